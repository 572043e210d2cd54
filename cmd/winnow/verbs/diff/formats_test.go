// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"flag"
	"os"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
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
	if want := clitest.ReadFile(t, file); got != want {
		t.Errorf("%s is not what is printed, which is\n%s", file, got)
	}
}

// The report has a change of each kind, and text of the catalog that tries to break out of the comment.
func TestDiffInEveryFormat(t *testing.T) {
	for format, file := range map[string]string{output.FormatTable: "want.txt", output.FormatMarkdown: "want.md", output.FormatJSON: "want.json"} {
		t.Run(format, func(t *testing.T) {
			got := clitest.Execute(t.Context(), "diff", "-f", "testdata/edited.yaml", "--from-selection", "testdata/selection.yaml",
				"--from", "testdata/before", "--to", "testdata/after", "-o", format)
			if got.Code != root.ExitOK || got.Stderr != "" {
				t.Fatalf("exit code %d: %s", got.Code, got.Stderr)
			}
			golden(t, "testdata/"+file, got.Stdout)
		})
	}
}
