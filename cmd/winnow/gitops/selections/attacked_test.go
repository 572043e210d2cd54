// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"strings"
	"testing"
)

// attack is a change that may lose something of what a stage runs, and that nobody has approved.
type attack struct {
	name       string
	base, head map[string]string
	// paths are those of the command line, by default all.
	paths []string
}

// assertNotGreen reports attacks that pass --fail-on held,unknown.
func assertNotGreen(t *testing.T, all ...attack) {
	t.Helper()
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) {
			base, head := commits(t, a.base, a.head)
			if a.paths == nil {
				a.paths = []string{"."}
			}
			report, err := Compare(t.Context(), base, head, Options{Paths: a.paths, OpenRendered: (&artifactsOf{}).open, Compare: compareSides})
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Trips([]string{"held", "unknown"})) == 0 {
				t.Errorf("it passes the check, with the notes\n%s\n%s", strings.Join(promoted(report), "\n"), strings.Join(report.Notes, "\n"))
			}
		})
	}
}

// ofFlux returns a Kustomization of a directory of this repository.
func ofFlux(name, path, more string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
		"spec:\n  path: ./" + path + "\n  prune: true\n  sourceRef: {kind: GitRepository, name: flux-system}\n" + more + "---\n"
}

// fluxSystem returns the source of the repository, and the Kustomization of a cluster.
func fluxSystem(url, ref string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\n" +
		"spec:\n  url: " + url + "\n  ref: {" + ref + "}\n---\n" + ofFlux("flux-system", "clusters/a", "")
}

const (
	ownURL       = "https://git.example.com/org/fleet"
	emptyMap     = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nothing, namespace: default}\n---\n"
	stageInGit   = "clusters/a/apps.yaml"
	syncOfA      = "clusters/a/sync.yaml"
	ownNamespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: fleet}\n"
)
