// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

func commandTree() []*cobra.Command { return withCommandsBelow(root.New()) }

func withCommandsBelow(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, one := range cmd.Commands() {
		all = append(all, withCommandsBelow(one)...)
	}
	return all
}

func TestCommandsExplainThemselves(t *testing.T) {
	for _, cmd := range commandTree() {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			if cmd.Short == "" || cmd.Long == "" || cmd.Long == cmd.Short {
				t.Error("it does not say what it does")
			}
			lines := exampleLines(cmd.Example)
			if len(lines) == 0 {
				t.Error("it has no example")
			}
			for _, line := range lines {
				if err := parses(line); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
		})
	}
}

func TestExamplesThatAreWrongAreFound(t *testing.T) {
	for _, line := range []string{
		"winnow rendre -f a", "winnow render --sauce b", "winnow render extra", "winnow lint", "winnow lint a -o xml",
		"winnow diff --git a..b -f c", "winnow completion tcsh", `winnow push a "b" c`,
	} {
		if parses(line) == nil {
			t.Errorf("%s parses", line)
		}
	}
}

// exampleLines returns the command lines of an example, without comments and continuations.
func exampleLines(example string) []string {
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(example, "\\\n", "")) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "winnow ") {
			lines = append(lines, line)
		}
	}
	return lines
}

func parses(line string) error {
	for _, end := range []string{" | ", " > "} {
		line, _, _ = strings.Cut(line, end)
	}
	cmd, args, err := root.New().Find(words(line)[1:])
	if err != nil {
		return err
	}
	if cmd == cmd.Root() {
		return errors.New("no verb")
	}
	if err := cmd.ParseFlags(args); err != nil {
		return err
	}
	return errors.Join(cmd.ValidateArgs(cmd.Flags().Args()), cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups())
}

// words splits a line at spaces outside of double quotes.
func words(line string) []string {
	quoted := false
	return strings.FieldsFunc(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == '"' || r == ' ' && !quoted
	})
}

func TestHelpFitsATerminal(t *testing.T) {
	for _, cmd := range commandTree() {
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		help := clitest.Execute(t.Context(), args...)
		if help.Code != root.ExitOK || help.Stdout == "" || help.Stderr != "" {
			t.Errorf("%s: exit code %d, stderr %q", args, help.Code, help.Stderr)
		}
		for line := range strings.Lines(help.Stdout) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > plaintext.MaxLine {
				t.Errorf("%s: %d characters: %s", args, n, line)
			}
		}
	}
}

// Every verb with -o json prints only JSON on stdout.
func TestJSONIsAllOfStdout(t *testing.T) {
	const catalog, file = "../../examples/catalog", "../../examples/gitops/selection.yaml"
	lines := map[string][]string{
		"lint":      {catalog},
		"list":      {catalog, "-f", file},
		"explain":   {"-f", file, "--source", catalog, "argocd"},
		"show":      {"--source", catalog, "argocd"},
		"diff":      {"-f", file, "--from", catalog, "--to", catalog},
		"version":   {},
		"get":       nil, // testGet has a cluster
		"promote":   nil, // promote.txtar has a repository
		"fleet":     nil, // TestReceiptsThatAreWrongAreNamed has one
		"doctor":    nil, // TestDoctor has installations
		"receipt":   {"berlin", "--kubeconfig", clitest.ClusterConfig(t)},
		"view":      {clitest.Path("test/clitest/testdata/functions/catalog.yaml")},
		"instances": {"-A", "--kubeconfig", clitest.ClusterConfig(t)},
		"push":      {catalog, "oci://" + clitest.StartRegistry(t) + "/push:v1", "--plain-http"},
	}
	for _, cmd := range commandTree() {
		flag := cmd.Flags().Lookup("output")
		if flag == nil || !strings.Contains(flag.Usage, output.FormatJSON) {
			continue
		}
		t.Run(cmd.Name(), func(t *testing.T) {
			args, known := lines[cmd.Name()]
			if !known {
				t.Fatal("there is no command line to test")
			}
			if args == nil {
				t.Skip("another test has what it needs")
			}
			verb := strings.Fields(cmd.CommandPath())[1:]
			got := clitest.Execute(t.Context(), slices.Concat(verb, []string{"-o", output.FormatJSON}, args)...)
			if got.Code != root.ExitOK || !json.Valid([]byte(got.Stdout)) {
				t.Errorf("exit code %d, stdout %q, stderr %q", got.Code, got.Stdout, got.Stderr)
			}
		})
	}
}
