// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"bytes"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/diffview"
)

// remote is a Kustomization of a hub that applies a directory to the cluster of a kubeConfig.
func remote(namespace, path, kubeConfig string) string {
	return "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + path + ", namespace: " + namespace + "}\n" +
		"spec: {kubeConfig: {secretRef: {name: " + kubeConfig + "}}, prune: true, path: ./" + path + ", sourceRef: {kind: GitRepository, name: fleet, namespace: fleet}}\n"
}

// A cluster is no other one because both have the same selection, and a source is none of a selection because it has its name.
func TestWhatIsElsewhereIsNotTheSame(t *testing.T) {
	before, after := pulling("  ref: {tag: x_1-y_1}\n"), pulling("  ref: {tag: y_1}\n")
	cluster := func(dir string) map[string]string {
		return map[string]string{dir + "/a.yaml": limited("apps", "", "x, y"), dir + "/ak.yaml": applying(""), dir + "/b.yaml": before}
	}
	hub := func(dir, text string) map[string]string { return with(cluster(dir), "prod/k.yaml", text) }
	copied := remote("infra", "sources", "edge") + remote("apps", "all", "edge")
	for _, test := range []struct {
		name       string
		base, head map[string]string
	}{
		{"a cluster of a hub leaves, and another one comes", hub("berlin", remote("berlin", "berlin", "k")), with(hub("paris", remote("paris", "paris", "k")), "berlin", "")},
		{"the same, with Secrets of two names", hub("berlin", remote("fleet", "berlin", "b")), with(hub("paris", remote("fleet", "paris", "p")), "berlin", "")},
		{"the same directory", hub("all", remote("berlin", "all", "k")), map[string]string{"prod/k.yaml": remote("paris", "all", "k")}},
		{"a Secret that is copied into another namespace", map[string]string{"prod/k.yaml": copied, "sources/b.yaml": before, "all/a.yaml": selecting("")}, map[string]string{"sources/b.yaml": after}},
		{"a source in another directory", map[string]string{"prod/b.yaml": before, "over/kustomization.yaml": "resources: [a.yaml]\n", "over/a.yaml": selecting("")}, map[string]string{"prod/b.yaml": after}},
		{"a source in another cluster", map[string]string{"prod/b.yaml": before, "other/a.yaml": selecting("")}, map[string]string{"prod/b.yaml": after}},
	} {
		t.Run(test.name, func(t *testing.T) {
			older, newer := commits(t, bootstrapped(test.base), test.head)
			report, err := Compare(t.Context(), older, newer, Options{Paths: []string{"."}, Open: shipping})
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			diffview.Text(&text, report, diffview.View{})
			if len(report.Same) > 0 || strings.Contains(text.String(), "nothing changes") {
				t.Error(text.String())
			}
		})
	}
}
