// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/winnow-dev/winnow/test/clitest"
)

func TestContextsAreCompleted(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", clitest.Kubeconfig(t, "http://127.0.0.1:1"))
	for _, verb := range [][]string{{"get"}, {"reconcile"}, {"approve"}, {"diff", "--live"}} {
		got := clitest.Execute(t.Context(), append(append([]string{"__complete"}, verb...), "--context", "")...)
		if got.Stdout != "c\n:4\n" {
			t.Errorf("%v completes %q, %s", verb, got.Stdout, got.Stderr)
		}
	}
	if got := clitest.Execute(t.Context(), "__complete", "get", "--kubeconfig", "/nowhere", "--context", ""); got.Stdout != ":4\n" {
		t.Errorf("without a kubeconfig: %q", got.Stdout)
	}
}
