// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"os"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file of testdata, or writes the file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := readFileString(t, file); got != want {
		t.Errorf("%s is not what is printed, which is\n%s", file, got)
	}
}

// The report has a change of each kind, and text of the catalog that tries to break out of the comment.
func TestDiffInEveryFormat(t *testing.T) {
	for format, file := range map[string]string{output.FormatTable: "want.txt", output.FormatMarkdown: "want.md", output.FormatJSON: "want.json"} {
		t.Run(format, func(t *testing.T) {
			got := execute(t.Context(), "diff", "-f", "testdata/diff/edited.yaml", "--from-selection", "testdata/diff/selection.yaml",
				"--from", "testdata/diff/before", "--to", "testdata/diff/after", "-o", format)
			if got.code != root.ExitOK || got.stderr != "" {
				t.Fatalf("exit code %d: %s", got.code, got.stderr)
			}
			golden(t, "testdata/diff/"+file, got.stdout)
		})
	}
}
