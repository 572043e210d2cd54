// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

// What people who know kubectl and flux type is answered with what they have meant.
func TestSlipsAreAnsweredWithWhatWasMeant(t *testing.T) {
	for command, want := range map[string]string{
		"render -f ../../examples/gitops/selection.yaml --source ../../examples": "../../examples/catalog has a catalog: name that directory, if it is meant",
		"push oci://registry.example.com/catalog ./cat":                          "DIR comes first; did you mean: winnow push ./cat oci://registry.example.com/catalog?",
		"push ./cat oci://registry.example.com/catalog --source-url=":            "--source-url is empty",
		"diff ./a ./b":                       "diff takes its catalogs by --from and --to; did you mean: winnow diff --from ./a --to ./b?",
		"diff ./a":                           "unexpected ./a: a PATH is for --git",
		"explain gold argocd -n flux-system": "explain reads files, and no cluster: pass the selection by -f; see winnow explain --help",
		"functions list":                     `unknown command "list"; it has resolve, view; see winnow functions --help`,
		"site --git .":                       "-o DIR is missing: add -o site to write it to ./site",
		"get applications -A":                "get takes NAME or --all-namespaces, not both: pass -n NAMESPACE",
		"reconcile":                          "reconcile needs at least one NAME of a CatalogSelection, or --all",
		"reconcile a -A":                     "reconcile takes NAME or --all, not both",
	} {
		got := clitest.Execute(t.Context(), strings.Fields(command)...)
		if got.Code == root.ExitOK || got.Stdout != "" || !strings.Contains(got.Stderr, want) {
			t.Errorf("winnow %s: exit code %d\n%s\nwant %s", command, got.Code, got.Stderr, want)
		}
	}
}
