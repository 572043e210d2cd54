// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/diff"
)

// unknownIn returns all that a report does not know, and what it tells of changes, in words.
func unknownIn(report *diff.Report) (all []string) {
	for _, s := range report.Selections {
		for _, sentence := range slices.Concat(s.Unknown, s.Notes) {
			all = append(all, s.Name+": "+sentence)
		}
		for _, l := range s.Loosened {
			all = append(all, s.Name+": "+l.Field)
		}
	}
	return append(all, report.Unknown...)
}

// What cannot be built is one fact: its cause is told once, and nothing is told of the objects below it but their names.
func TestWhatCannotBeBuiltIsToldOnce(t *testing.T) {
	const broken = "resources: [s.yaml, o.yaml, k.yaml]\npatches: [{path: nowhere.yaml}]\n"
	const cause = "open apps/nowhere.yaml: file does not exist"
	verified := pulling("  ignore: '!*'\n  verify: {provider: cosign}\n  ref: {tag: x}\n")
	apps := map[string]string{
		"apps/kustomization.yaml": "resources: [s.yaml, o.yaml, k.yaml]\n",
		"apps/s.yaml":             selecting(""), "apps/o.yaml": verified, "apps/k.yaml": applying(""),
	}
	whole := bootstrapped(apps, "over=apps")
	sources := bootstrapped(with(apps, "sources/kustomization.yaml", "resources: [g.yaml, set.yaml]\n",
		"sources/g.yaml", gitOf("other"), "sources/set.yaml", resourceSet,
		"prod/more.yaml", strings.ReplaceAll(following("more", "more"), "kind: GitRepository, name: fleet", "kind: GitRepository, name: other"),
		"more/s.yaml", strings.ReplaceAll(selecting(""), "name: apps", "name: more")), "over=apps", "sources")
	for _, test := range []struct {
		name, cause string
		base, head  map[string]string
		want        []string
	}{
		{
			"an overlay that cannot be built any more", cause, whole, map[string]string{"apps/kustomization.yaml": broken},
			[]string{"apps: Kustomization fleet/over cannot be built here", "prod: Kustomization fleet/over cannot be built here, and differs: CAUSE"},
		},
		{
			"an overlay that could not be built before", cause, with(whole, "apps/kustomization.yaml", broken), map[string]string{"apps/kustomization.yaml": whole["apps/kustomization.yaml"]},
			[]string{"apps: before: Kustomization fleet/over cannot be built here", "prod: Kustomization fleet/over cannot be built here before the change: CAUSE"},
		},
		{
			"an overlay whose selection moves to another one", cause, with(whole, "prod/more.yaml", following("more", "more"), "more/nothing.yaml", namespaceOf("nothing")),
			map[string]string{"apps/kustomization.yaml": broken, "more/s.yaml": selecting("  exclude: [x]\n")},
			[]string{
				"apps: source catalog: Kustomization fleet/over cannot be built here", "apps: moved from apps/s.yaml", "apps: applied by the Kustomization fleet/more, was fleet/over",
				"prod: Kustomization fleet/over cannot be built here, and differs: CAUSE",
			},
		},
		{
			"an overlay that could not be built before, with a selection that another one has", cause,
			with(whole, "apps/kustomization.yaml", broken, "prod/more.yaml", following("more", "more"), "more/s.yaml", selecting("  exclude: [x]\n")),
			map[string]string{"apps/kustomization.yaml": whole["apps/kustomization.yaml"]},
			[]string{
				"apps: before: Kustomization fleet/over cannot be built here", "prod: Kustomization fleet/over cannot be built here before the change: CAUSE",
				"prod: the CatalogSelection fleet/apps is there several times, and which one wins is known in the cluster only: by Kustomization fleet/more, Kustomization fleet/over; " +
					"pass the directory of one cluster, or leave one",
			},
		},
		{
			"a directory with the source of a Kustomization", "open sources/nowhere.yaml: file does not exist", sources,
			map[string]string{"sources/kustomization.yaml": "resources: [g.yaml, set.yaml, nowhere.yaml]\n"},
			[]string{"more: Kustomization fleet/sources cannot be built here", "prod: Kustomization fleet/sources cannot be built here, and differs: CAUSE"},
		},
		{
			"a directory with the source of a Kustomization, before", "open sources/nowhere.yaml: file does not exist",
			with(sources, "sources/kustomization.yaml", "resources: [g.yaml, set.yaml, nowhere.yaml]\n"),
			map[string]string{"sources/kustomization.yaml": "resources: [g.yaml, set.yaml]\n"},
			[]string{"more: before: Kustomization fleet/sources cannot be built here", "prod: Kustomization fleet/sources cannot be built here before the change: CAUSE"},
		},
		{
			"a file whose source is in a directory that can be built in neither commit", "-",
			with(sources, "sources/kustomization.yaml", "resources: [g.yaml, set.yaml, nowhere.yaml]\n"), map[string]string{"more/s.yaml": strings.ReplaceAll(selecting("  exclude: [x]\n"), "name: apps", "name: more")},
			[]string{
				"more: source catalog: no OCIRepository of this name is among the files", "more: no Kustomization that is built has its file, which is taken as it stands",
				"prod: Kustomization fleet/more applies files that are not read here, and differs: Kustomization fleet/sources cannot be built here; it may have more/s.yaml",
			},
		},
		{
			"a source that is encrypted now", "-", whole, map[string]string{"apps/o.yaml": verified + "sops: {mac: x}\n"},
			[]string{"apps: source catalog: OCIRepository catalog is encrypted by SOPS"},
		},
		{
			"the directory of a cluster", "open prod/nowhere.yaml: file does not exist", whole, map[string]string{"prod/kustomization.yaml": "resources: [flux.yaml, nowhere.yaml]\n"},
			[]string{"apps: the directory cannot be built here", "prod: the directory cannot be built here, and differs: CAUSE"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, head := commits(t, test.base, test.head)
			report, err := Compare(t.Context(), base, head, Options{Paths: []string{"."}, Open: (&opener{}).open})
			if err != nil {
				t.Fatal(err)
			}
			got := unknownIn(report)
			for i, sentence := range got {
				if begin, _, found := strings.Cut(sentence, ": accumulating resources"); found && strings.Contains(sentence, test.cause) {
					got[i] = begin + ": CAUSE"
				}
				if begin, _, found := strings.Cut(sentence, ": trouble configuring"); found && strings.Contains(sentence, test.cause) {
					got[i] = begin + ": CAUSE"
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q\nnotes %q", got, test.want, report.Notes)
			}
		})
	}
}

func gitOf(name string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: " + name + ", namespace: fleet}\nspec: {url: 'https://git.example.com/org/fleet'}\n"
}

const resourceSet = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: set, namespace: fleet}\n" +
	"spec: {resourcesTemplate: 'kind: CatalogSelection catalog.winnow.dev'}\n"
