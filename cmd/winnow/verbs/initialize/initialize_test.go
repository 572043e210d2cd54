// SPDX-License-Identifier: Apache-2.0

package initialize

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// The script init has what the other verbs do with the catalog.
func TestInitWritesIntoEmptyDirectoriesOnly(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"repository/.git", "other"} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"other/file", "written"} {
		if err := os.WriteFile(file, []byte("file\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nowhere", "dangling"); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		// fails is a regular expression of the error, empty for none, and exist are files.
		fails string
		exist []string
	}{
		{"a directory with hidden files", []string{"repository"}, "", []string{"repository/.git", "repository/applications/kured/application.yaml"}},
		{"the same again", []string{"repository"}, `^repository is not empty, it holds README.md: choose another directory$`, nil},
		{"a directory with a file", []string{"other"}, `it holds file: choose another directory$`, []string{"other/file"}},
		{"a file", []string{"written"}, `^reading the directory: .*not a directory$`, []string{"written"}},
		{"a directory below a file", []string{"written/catalog"}, `not a directory$`, []string{"written"}},
		{"a link to nowhere", []string{"dangling"}, `^making the output directory: `, nil},
		{"no directory", nil, `^init needs one DIR; see winnow init --help$`, nil},
		{"two directories", []string{"a", "b"}, `^init needs one DIR`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			winnow := &cobra.Command{Use: "winnow", SilenceUsage: true, SilenceErrors: true}
			winnow.AddCommand(New())
			winnow.SetArgs(append([]string{"init"}, test.args...))
			var stdout strings.Builder
			winnow.SetOut(&stdout)
			winnow.SetErr(&stdout)
			err := winnow.ExecuteContext(t.Context())
			failed := err != nil && regexp.MustCompile(test.fails).MatchString(err.Error())
			if failed != (test.fails != "") || output.IsFinding(err) {
				t.Errorf("it ends with %v, want %q, for exit code 2", err, test.fails)
			}
			for _, name := range test.exist {
				if _, err := os.Lstat(name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if found, err := filepath.Glob("other/*"); err != nil || len(found) != 1 {
		t.Errorf("written beside the file: %v, %v", found, err)
	}
	if _, err := os.Lstat("a"); err == nil {
		t.Error("the first of two directories is written")
	}
}
