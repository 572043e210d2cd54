// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/approvalfile"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/test/farm"
)

const (
	listed = "  safeguards: {approve: [loki]}\n"
	// inlinePatch is a patch of a Kustomization that raises the tag of its catalog, and listPatch one that replaces a list.
	inlinePatch = "  patches:\n  - target: {kind: OCIRepository}\n    patch: |\n      - {op: replace, path: /spec/ref/tag, value: " + farm.Third + "}\n  postBuild:\n"
	listPatch   = "  patches:\n  - target: {kind: CatalogSelection}\n    patch: |\n      - {op: add, path: /spec/safeguards, value: {approve: [tempo]}}\n  postBuild:\n"
	target      = "- target: {group: catalog.winnow.dev, kind: CatalogSelection, name: applications}\n  patch: |\n"
)

// jsonPatch returns a patch as winnow approve writes it, with an operation for each path and value.
func jsonPatch(operations ...string) string {
	text := target
	for _, operation := range operations {
		path, value, _ := strings.Cut(operation, " ")
		text += "    - op: add\n      path: /spec/safeguards" + path + "\n      value: " + value + "\n"
	}
	return text
}

// mergePatch returns a patch as winnow approve writes it where there is no list.
func mergePatch(lines ...string) string {
	return target + "    apiVersion: catalog.winnow.dev/v1alpha1\n    kind: CatalogSelection\n    metadata:\n      name: applications\n" +
		"    spec:\n      safeguards:\n        approve:\n        - " + strings.Join(lines, "\n        - ") + "\n"
}

// Each case places the lines, writes them where they belong, proves that they reach what needs them and nothing else, and
// compares again.
func TestTheFileThatTakesTheLines(t *testing.T) {
	files := fleet().Files()
	const (
		base   = "base/selection.yaml"
		byHand = base + " is built for others as well, which need other lines or are not known here, or a patch replaces its list: " +
			"add the lines by hand, in a patch of each CatalogSelection that needs them"
	)
	ring := func(name string) string { return "rings/" + name + "/kustomization.yaml" }
	with := func(file, more string) map[string]string { return map[string]string{file: files[file] + more} }
	all := func(file string) map[string]string {
		return map[string]string{"canary": file, "early": file, "edge": file, "stable": file}
	}
	creating, appending := mergePatch("app-01", "app-02/1.0.0"), jsonPatch("/approve/- app-01", "/approve/- app-02/1.0.0")
	everywhere := fleet().Everywhere(farm.Third)
	for _, test := range []struct {
		name string
		// base are files that differ in both commits, and second those of the newer one.
		base, second map[string]string
		// want maps rings to the file, or the advice, and patch is that of the first file that has one.
		want  map[string]string
		patch string
		paths []string
	}{
		{name: "all need it: the base", second: everywhere, want: all(base)},
		{name: "one ring needs it: its overlay, which creates the list", second: fleet().Effects(), want: map[string]string{"canary": ring("canary")}, patch: creating},
		{
			name: "what is outside of the paths may need others", second: everywhere, paths: []string{"clusters/c001"},
			want: map[string]string{"canary": base + " is outside of the compared paths, and others may build it: run winnow approve --git without a PATH"},
		},
		{name: "a cluster that cannot be built may need others", base: map[string]string{
			"clusters/c006/catalog.yaml":      strings.ReplaceAll(files["clusters/c006/catalog.yaml"], "rings/stable", "rings/broken"),
			"rings/broken/kustomization.yaml": "resources: [../../base, missing.yaml]\n",
		}, second: everywhere, want: map[string]string{"canary": ring("canary"), "early": ring("early"), "edge": ring("edge"), "stable": ring("stable")}, patch: creating},
		{
			name: "one ring does not need it: the overlays of the others", second: farm.With(everywhere, map[string]string{"rings/edge/source.yaml": files["rings/edge/source.yaml"]}),
			want: map[string]string{"canary": ring("canary"), "early": ring("early"), "stable": ring("stable")}, patch: creating,
		},
		{name: "the base has a list that all have", base: with(base, listed), second: everywhere, want: all(base)},
		{
			name: "the base has a list, and one ring needs more", base: with(base, listed), second: fleet().Effects(),
			want: map[string]string{"canary": ring("canary")}, patch: appending,
		},
		{
			name: "the base has other safeguards", base: with(base, "  safeguards: {onMajorUpgrade: Hold}\n"), second: fleet().Effects(),
			want: map[string]string{"canary": ring("canary")}, patch: creating,
		},
		{
			name: "the merge patch of a ring replaces the list of the base", base: with("rings/canary/selection.yaml", listed), second: everywhere,
			want: farm.With(all(base), map[string]string{"canary": ring("canary")}), patch: appending,
		},
		{
			name: "the merge patch of a ring replaces the list of the base by the same list", second: everywhere,
			base: farm.With(with("rings/canary/selection.yaml", listed), with(base, listed)),
			want: farm.With(all(base), map[string]string{"canary": ring("canary")}), patch: appending,
		},
		{
			name: "the JSON patch of a ring replaces the list of the base", base: with(ring("canary"), jsonPatch(" {approve: []}", "/approve/- loki")), second: everywhere,
			want: farm.With(all(base), map[string]string{"canary": ring("canary")}), patch: appending,
		},
		{
			name: "the JSON patch of a ring adds to the list of the base", second: everywhere,
			base: farm.With(with(ring("canary"), jsonPatch("/approve/- tempo")), with(base, listed)), want: all(base),
		},
		{
			name: "a patch in a file of its own replaces the list of the base", second: everywhere,
			base: map[string]string{
				ring("canary"):           files[ring("canary")] + "- path: list.yaml\n  target: {kind: CatalogSelection}\n",
				"rings/canary/list.yaml": "- {op: add, path: /spec/safeguards, value: {approve: [loki]}}\n",
			},
			want: farm.With(all(base), map[string]string{"canary": ring("canary")}), patch: appending,
		},
		{
			name: "a patch of another selection replaces nothing", second: everywhere,
			base: with(ring("canary"), strings.ReplaceAll(jsonPatch(" {approve: []}"), "applications", "others")), want: all(base),
		},
		{
			name: "a Kustomization of Flux replaces the list: by hand", second: everywhere,
			base: map[string]string{"clusters/c001/catalog.yaml": strings.ReplaceAll(files["clusters/c001/catalog.yaml"], "  postBuild:\n", listPatch)},
			want: farm.With(all(base), map[string]string{"canary": byHand}),
		},
		{
			name:   "one cluster of a ring needs it, and no file is its own",
			second: map[string]string{"clusters/c002/catalog.yaml": strings.ReplaceAll(files["clusters/c002/catalog.yaml"], "  postBuild:\n", inlinePatch)},
			want:   map[string]string{"early": byHand},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			older, newer := commits(t, farm.With(files, test.base), test.second)
			options := new(counter).options()
			if test.paths != nil {
				options.Paths = test.paths
			}
			report, err := Compare(t.Context(), older, newer, options)
			if err != nil {
				t.Fatal(err)
			}
			got, patch := placesByRing(report)
			if !maps.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			if patch != test.patch {
				t.Errorf("the patch is\n%s\nwant\n%s", patch, test.patch)
			}
			if slices.ContainsFunc(slices.Collect(maps.Values(test.want)), func(file string) bool { return strings.Contains(file, " ") }) {
				return // by hand
			}
			edits, needs := written(t, report)
			if err := ProveApprovals(t.Context(), newer, options, edits, needs); err != nil {
				t.Fatalf("%v: %s", err, edits)
			}
			for name, content := range edits {
				if err := os.WriteFile(name, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			git(t, "commit", "--all", "-q", "-m", "approve")
			report, err = Compare(t.Context(), older, git(t, "rev-parse", "HEAD"), options)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := placesByRing(report); len(got) > 0 {
				t.Errorf("held with the lines: %q", got)
			}
		})
	}
}

// placesByRing maps the rings that are held to the file that takes the lines, or to the advice, and returns a patch.
func placesByRing(report *diff.Report) (places map[string]string, patch string) {
	places = map[string]string{}
	for _, s := range report.Selections {
		if s.Held == nil || s.Held.Approved {
			continue
		}
		patch = max(patch, s.Held.Patch)
		for n := range fleet().Clusters {
			if fmt.Sprintf("clusters/c%03d", n+1) == s.Cluster {
				places[fleet().RingOf(n)] = s.Held.File + s.Held.Advice
			}
		}
	}
	return places, patch
}

// written returns the files with the lines of a report, and the lines that each selection needs.
func written(t *testing.T, report *diff.Report) (edits map[string][]byte, needs func(diff.Place) []string) {
	t.Helper()
	edits, lines := map[string][]byte{}, map[diff.Place][]string{}
	for _, s := range report.Selections {
		if s.Held == nil || s.Held.Approved {
			continue
		}
		lines[s.Place()] = s.Held.Approve
		content := edits[s.Held.File]
		if content == nil {
			var err error
			if content, err = os.ReadFile(s.Held.File); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if s.Held.Patch != "" {
			content, _, err = approvalfile.AddPatch(content, s.Held.Patch)
		} else {
			content, _, err = approvalfile.Add(content, types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, s.Held.Approve)
		}
		if err != nil {
			t.Fatal(err)
		}
		edits[s.Held.File] = content
	}
	return edits, func(place diff.Place) []string { return lines[place] }
}

// A JSON patch that adds spec.safeguards replaces those that the base gets later.
func TestSafeguardsThatTheBaseGetsAfterAnApprovalRemain(t *testing.T) {
	files := fleet().Files()
	older, newer := commits(t, files, fleet().Effects())
	report, err := Compare(t.Context(), older, newer, new(counter).options())
	if err != nil {
		t.Fatal(err)
	}
	edits, _ := written(t, report)
	edits["base/selection.yaml"] = []byte(files["base/selection.yaml"] + "  safeguards: {onMajorUpgrade: Hold}\n")
	for name, content := range edits {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git(t, "commit", "--all", "-q", "-m", "approve, and hold major upgrades")
	survey, err := Look(t.Context(), newer, git(t, "rev-parse", "HEAD"), new(counter).options())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range survey.Published {
		got, approved := s.Spec.Safeguards, s.Cluster == "clusters/c001"
		if got.OnMajorUpgrade != v1alpha1.SafeguardHold || approved != slices.Equal(got.Approve, []string{"app-01", "app-02/1.0.0"}) {
			t.Errorf("%s has the safeguards %+v", s.Cluster, got)
		}
	}
}

func TestEditsThatDoNotReachWhatNeedsThemAreRefused(t *testing.T) {
	files := fleet().Files()
	_, head := commits(t, farm.With(files, map[string]string{"rings/canary/selection.yaml": files["rings/canary/selection.yaml"] + listed}), fleet().Everywhere(farm.Third))
	inBase := func(spec string) map[string][]byte {
		return map[string][]byte{"base/selection.yaml": []byte(files["base/selection.yaml"] + spec)}
	}
	const list = "CatalogSelection flux-system/applications of clusters/c001: its spec.safeguards.approve would have "
	for name, test := range map[string]struct {
		edits map[string][]byte
		needs []string
		want  string
	}{
		"a patch replaces the list":    {inBase("  safeguards: {approve: [argocd]}\n"), []string{"argocd"}, list + "loki, instead of argocd, loki"},
		"others do not need it":        {map[string][]byte{"rings/canary/selection.yaml": []byte(files["rings/canary/selection.yaml"] + "  safeguards: {approve: [loki, argocd]}\n")}, nil, list + "argocd, loki, instead of loki"},
		"one is lost":                  {map[string][]byte{"rings/canary/selection.yaml": []byte(files["rings/canary/selection.yaml"] + "  safeguards: {approve: [argocd]}\n")}, []string{"argocd"}, list + "argocd, instead of argocd, loki"},
		"one is there twice":           {map[string][]byte{"rings/canary/selection.yaml": []byte(files["rings/canary/selection.yaml"] + "  safeguards: {approve: [loki, argocd, argocd]}\n")}, []string{"argocd"}, "CatalogSelection flux-system/applications of clusters/c001: it cannot be read any more: spec.safeguards.approve[2]: Duplicate value: \"argocd\""},
		"more than the list changes":   {inBase("  suspend: true\n"), nil, "CatalogSelection flux-system/applications of clusters/c001: its spec would change in more than approvals"},
		"the result cannot be applied": {inBase("  safeguards: {approve: [argocd], onRemoval: 1}\n"), []string{"argocd"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := ProveApprovals(t.Context(), head, new(counter).options(), test.edits, func(place diff.Place) []string {
				if place.Cluster == "clusters/c001" {
					return test.needs
				}
				return nil
			})
			if err == nil || test.want != "" && err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}
