// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"slices"
	"strings"
	"testing"
)

func TestSelectionsThatMoveAreCompared(t *testing.T) {
	built := func(dir, applications string) map[string]string {
		return map[string]string{
			dir + "/kustomization.yaml": "resources: [a.yaml, b.yaml]\n",
			dir + "/a.yaml":             selecting(""), dir + "/b.yaml": pulling("  ref: {tag: " + applications + "}\n"),
		}
	}
	in := func(all ...map[string]string) map[string]string {
		files := map[string]string{}
		for _, one := range all {
			for name, content := range one {
				files[name] = content
			}
		}
		return files
	}
	removed := func(names ...string) map[string]string {
		files := map[string]string{}
		for _, name := range names {
			files[name] = ""
		}
		return files
	}
	cluster := func(dir, applications string) map[string]string {
		files := bootstrapped(map[string]string{"prod/a.yaml": selecting(""), "prod/b.yaml": pulling("  ref: {tag: " + applications + "}\n")})
		found := map[string]string{}
		for name, content := range files {
			found[dir+strings.TrimPrefix(name, "prod")] = strings.ReplaceAll(content, "./prod", "./"+dir)
		}
		return found
	}
	other := strings.NewReplacer("name: apps", "name: others").Replace
	limited := func(name, applications string) string {
		return strings.ReplaceAll(selecting("  limit: {nameSelector: ["+applications+"]}\n"), "name: apps", "name: "+name)
	}
	const left = "prod: the directory is gone, and what applies it finds nothing there: the cluster keeps all that it has, and follows Git no more"
	tests := []struct {
		name       string
		base, head map[string]string
		want       []string
	}{
		{"a directory that is renamed, while another one is removed", in(built("dev", "y"), built("prod", "x-y")), in(built("prod-eu", "y"), removed("dev", "prod")),
			[]string{"prod-eu/a.yaml: x removed"}},
		{"a directory that may be either of two", in(built("dev", "y"), built("prod", "x-y")), in(built("one", "y"), removed("dev", "prod")),
			[]string{"one/a.yaml: it may be the one that was moved from dev/a.yaml", "one/a.yaml: it may be the one that was moved from prod/a.yaml"}},
		{"a directory that is renamed, beside a new one", built("prod", "x-y"), in(built("prod-eu", "y"), built("dev", "y"), removed("prod")),
			[]string{"dev/a.yaml: y added", "prod-eu/a.yaml: x removed"}},
		{"a cluster that is renamed", cluster("prod", "x-y"), in(cluster("eu", "y"), removed("prod")), []string{left, "eu/a.yaml: x removed"}},
		{"a cluster that is renamed, with a namespace of a Kustomization that is not built",
			in(cluster("prod", "x"), map[string]string{"prod/infra.yaml": following("infra", "infra"), "infra/n.yaml": namespaceOf("fleet")}),
			in(cluster("eu", "x"), map[string]string{"eu/infra.yaml": following("infra", "infra")}, removed("prod")), []string{left}},
		{"a cluster that is new", cluster("prod", "x-y"), cluster("eu", "y"), []string{"eu/a.yaml: y added"}},
		{"a selection that is renamed with its consumer",
			in(cluster("prod", "x-y"), map[string]string{"prod/k.yaml": applying("")}),
			in(cluster("prod", "y"), map[string]string{"prod/a.yaml": other(selecting("")), "prod/k.yaml": applying("  sourceRef: {kind: ExternalArtifact, name: others}\n")}),
			[]string{"prod/a.yaml: x removed", "prod/a.yaml: y updated"}},
		{"a consumer that changes to a new selection",
			in(cluster("prod", "x-y"), map[string]string{"prod/k.yaml": applying("")}),
			map[string]string{"prod/c.yaml": other(selecting("  exclude: [x]\n")), "prod/k.yaml": applying("  sourceRef: {kind: ExternalArtifact, name: others}\n")},
			[]string{"prod/c.yaml: x removed", "prod/c.yaml: y updated"}},
		{"an application that moves",
			in(cluster("prod", "x-y-z"), map[string]string{"prod/a.yaml": limited("apps", "x, y"), "prod/c.yaml": limited("others", "z")}),
			map[string]string{"prod/a.yaml": limited("apps", "y"), "prod/c.yaml": limited("others", "z, x")},
			[]string{"prod/a.yaml: x removed", "prod/c.yaml: x added"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			base, head := commits(t, test.base, test.head)
			report, err := Compare(t.Context(), base, head, Options{Paths: []string{"."}, Open: (&opener{}).open})
			if err != nil {
				t.Fatal(err)
			}
			report.Notes, report.Same = nil, nil
			if got := said(report); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
