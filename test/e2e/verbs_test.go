// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// A person on call pulls a new catalog, sees what is held, and approves it in a file, all by the command line.
func TestVerbsOfACluster(t *testing.T) {
	s := newScenario(t, "verbs", catalogOf("verbs"), nil)
	s.awaitApplied("verbs-a", "verbs-b", "verbs-c")
	s.push("v1", catalogOf("verbs")[:2]) // source-controller would see the moved tag in an hour

	held := s.winnow(0, "reconcile", s.name, "--with-source")
	words := strings.Join(strings.Fields(held), " ") // without the line breaks of a terminal
	for _, want := range []string{"; a change is held ", " HELD: 1 change, ", " Removal: verbs-c: would be removed, "} {
		if !strings.Contains(words, want) {
			t.Errorf("reconcile printed no %q:\n%s", want, held)
		}
	}
	if table := s.winnow(0, "get"); !strings.Contains(table, "Removal: verbs-c") {
		t.Errorf("get printed:\n%s", table)
	}
	file := filepath.Join(t.TempDir(), "selection.yaml")
	content := s.winnow(0, "get", s.name, "-o", "yaml")
	if err := os.WriteFile(file, []byte("# ours\n"+content), 0o600); err != nil {
		t.Fatal(err)
	}
	s.winnow(0, "approve", s.name, "--write", file)
	edited, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cs := s.awaitSelection("held", func(*v1alpha1.CatalogSelection) error { return nil })
	entry := cs.Status.Held.Approve[0]
	if !strings.Contains(string(edited), "    approve:\n    - "+entry+"\n") {
		t.Fatalf("it wrote %s", edited)
	}
	s.approve(entry)
	if released := s.winnow(0, "reconcile", s.name); strings.Contains(released, "HELD") {
		t.Errorf("still held:\n%s", released)
	}
	s.awaitApplied("verbs-a", "verbs-b")

	s.winnow(0, "suspend", s.name)
	s.winnow(1, "reconcile", s.name)
	s.winnow(0, "resume", s.name)
}

// winnow runs a verb in the namespace of the scenario and returns what it prints.
func (s *scenario) winnow(code int, args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), system.winnow, append(args, "-n", s.name, "--kubeconfig", system.Kubeconfig())...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got, err = exit.ExitCode(), nil
		out = append(out, exit.Stderr...)
	}
	if err != nil || got != code {
		s.t.Fatalf("winnow %v: exit code %d, want %d, %v:\n%s", args, got, code, err, out)
	}
	return string(out)
}
