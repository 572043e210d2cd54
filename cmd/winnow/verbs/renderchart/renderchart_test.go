// SPDX-License-Identifier: Apache-2.0

package renderchart_test

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/sandbox"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

// The process that renders a chart is for other verbs: the help does not name it, and a user who starts it reads what it waits for.
func TestTheProcessIsForOtherVerbs(t *testing.T) {
	if help := clitest.Execute(t.Context(), "--help"); help.Code != root.ExitOK || strings.Contains(help.Stdout, sandbox.Verb) {
		t.Errorf("%+v", help)
	}
	got := clitest.Execute(t.Context(), sandbox.Verb)
	if got.Code != root.ExitFailed || got.Stdout != "" || !strings.Contains(got.Stderr, "which another process of winnow writes") {
		t.Errorf("%+v", got)
	}
}
