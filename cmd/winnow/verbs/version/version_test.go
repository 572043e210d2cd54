// SPDX-License-Identifier: Apache-2.0

package version

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

func TestVersionInfoFormat(t *testing.T) {
	recorded := Info{output.NewDocument("Version"), "v1.2.3", "0123abc", "2026-01-02T03:04:05Z", "go1.26", "linux/amd64", "catalog.winnow.dev/v1"}
	unknown := Info{output.NewDocument("Version"), "v1.2.3", "", "", "go1.26", "linux/amd64", "catalog.winnow.dev/v1"}
	tests := []struct {
		info         Info
		output, want string
	}{
		{recorded, "table", "winnow v1.2.3 (go1.26, linux/amd64, catalog.winnow.dev/v1, commit 0123abc, 2026-01-02T03:04:05Z)\n"},
		{unknown, "table", "winnow v1.2.3 (go1.26, linux/amd64, catalog.winnow.dev/v1)\n"},
		{recorded, "json", "{\n  \"apiVersion\": \"cli.winnow.dev/v1alpha1\",\n  \"kind\": \"Version\",\n  \"version\": \"v1.2.3\",\n  \"commit\": \"0123abc\",\n" +
			"  \"date\": \"2026-01-02T03:04:05Z\",\n  \"go\": \"go1.26\",\n  \"platform\": \"linux/amd64\",\n  \"api\": \"catalog.winnow.dev/v1\"\n}\n"},
		{unknown, "yaml", "api: catalog.winnow.dev/v1\napiVersion: cli.winnow.dev/v1alpha1\ngo: go1.26\nkind: Version\nplatform: linux/amd64\nversion: v1.2.3\n"},
	}
	for _, test := range tests {
		var got strings.Builder
		if err := output.Write(&got, test.output, test.info); got.String() != test.want || err != nil {
			t.Errorf("Write(%q) = %q, %v, want %q", test.output, got.String(), err, test.want)
		}
	}
}

func TestVersionPrintsALineOrADocument(t *testing.T) {
	tests := []struct {
		args []string
		// want and fails are regular expressions of the output and of the error.
		want, fails string
	}{
		{nil, `^winnow dev \(go1\..*, [a-z]+/[a-z0-9]+, catalog\.winnow\.dev/v1alpha1\)\n$`, ""},
		{[]string{"-o", "table"}, `^winnow dev .*\n$`, ""},
		{[]string{"-o", "json"}, `"version": "dev"`, ""},
		{[]string{"-o", "yaml"}, `(?m)^version: dev$`, ""},
		{[]string{"-o", "markdown"}, `^$`, `use one of table, json, yaml$`},
		{[]string{"extra"}, `^$`, `^version takes no arguments: unexpected extra; see winnow version --help$`},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			winnow := &cobra.Command{Use: "winnow", SilenceUsage: true, SilenceErrors: true}
			winnow.AddCommand(New())
			winnow.SetArgs(append([]string{"version"}, test.args...))
			var stdout, stderr strings.Builder
			winnow.SetOut(&stdout)
			winnow.SetErr(&stderr)
			err := winnow.ExecuteContext(t.Context())
			failed := err != nil && regexp.MustCompile(test.fails).MatchString(err.Error())
			if failed != (test.fails != "") || output.IsFinding(err) {
				t.Errorf("it ends with %v, want %q, for exit code 2", err, test.fails)
			}
			if !regexp.MustCompile(test.want).MatchString(stdout.String()) || stderr.Len() > 0 {
				t.Errorf("%q and %q, want %q", stdout.String(), stderr.String(), test.want)
			}
		})
	}
}
