// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/test/clitest"
)

// A finding, a wrong usage and an input that is missing or invalid are told apart in every verb.
func TestExitCodesTellFindingsFromFailures(t *testing.T) {
	const catalog, file = "../../examples/catalog", "../../examples/gitops/selection.yaml"
	dir := t.TempDir()
	invalid, absent := filepath.Join(dir, "invalid.yaml"), filepath.Join(dir, "absent")
	clitest.WriteFile(t, invalid, "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: a, namespace: b}\nspec: {}\n")
	const finding, failure = root.ExitFindings, root.ExitFailed
	for line, want := range map[string]int{
		"lint CATALOG": root.ExitOK, "lint DIR": finding, "lint ABSENT": failure, "lint": failure, "lint CATALOG -o xml": failure,

		"list CATALOG": root.ExitOK, "list DIR": finding, "list CATALOG -f INVALID": finding, "list ABSENT": failure,
		"list CATALOG -f ABSENT": failure, "list CATALOG CATALOG": failure, "list -f FILE": failure,

		"explain -f FILE --source CATALOG argocd": root.ExitOK, "explain -f FILE --source CATALOG falco": root.ExitOK,
		"explain -f FILE --source CATALOG nothing": finding, "explain -f INVALID --source CATALOG argocd": failure,
		"explain -f FILE --source DIR argocd": failure, "explain -f ABSENT --source CATALOG argocd": failure, "explain argocd": failure,

		"render -f FILE --source CATALOG": root.ExitOK, "render -f INVALID --source CATALOG": finding, "render -f FILE --source DIR": finding,
		"render -f FILE --source ABSENT": failure, "render -f ABSENT --source CATALOG": failure, "render CATALOG": failure,
		"render -f FILE --source CATALOG -o json": failure, "render -f FILE --source CATALOG --crds ABSENT": failure,

		"diff -f FILE --from CATALOG --to CATALOG --fail-on any": root.ExitOK, "diff -f INVALID --from CATALOG --to CATALOG": failure,
		"diff -f FILE --from CATALOG --to DIR": failure, "diff --from DIR --to CATALOG": failure, "diff -f FILE --from ABSENT --to CATALOG": failure,
		"diff --live": failure, "diff --git nothing..nowhere": failure,

		"promote --git nowhere elsewhere": failure, "promote": failure, "promote --git oci://127.0.0.1:1/a:b CATALOG --plain-http": failure,

		"push DIR oci://127.0.0.1:1/a:b": finding, "push ABSENT oci://127.0.0.1:1/a:b": failure, "push CATALOG": failure,
		"push CATALOG oci://127.0.0.1:1/a:b --plain-http": failure,

		"pull oci://127.0.0.1:1/a:b --plain-http -o ABSENT": failure, "pull CATALOG -o ABSENT": failure, "pull": failure,

		"version": root.ExitOK, "version -o xml": failure, "version extra": failure,
		"completion bash": root.ExitOK, "completion": failure, "": root.ExitOK, "--version": root.ExitOK, "nothing": failure,
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(strings.NewReplacer("CATALOG", catalog, "FILE", file, "INVALID", invalid, "ABSENT", absent, "DIR", dir).Replace(line))
			if got := clitest.Execute(t.Context(), args...); got.Code != want {
				t.Errorf("exit code %d, want %d: %s", got.Code, want, got.Stderr)
			}
		})
	}
}

func TestUnusableInputIsNoFinding(t *testing.T) {
	invalid := &render.Error{Code: v1alpha1.InvalidSpecReason, Err: errors.New("invalid")}
	if !output.IsFinding(invalid) || output.IsFinding(output.Unusable(invalid)) || output.Unusable(nil) != nil {
		t.Error("only the error as it is, is a finding")
	}
}
