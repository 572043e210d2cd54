// SPDX-License-Identifier: Apache-2.0

// Package version is winnow version: it prints the version of the running program.
package version

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// Info describes a program.
type Info struct {
	output.Document
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"` // hash; missing where it was not recorded
	Date     string `json:"date,omitempty"`   // of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
	API      string `json:"api"` // group and version of CatalogSelections
}

// The linker sets these: the version, the hash of the commit, and its date.
var (
	linked = "dev"
	commit string
	date   string
)

// This describes the running program.
func This() Info {
	return Info{
		Document: output.NewDocument("Version"), Version: Number(), Commit: commit, Date: date,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, API: v1alpha1.GroupVersion.String(),
	}
}

// Line returns the version in a line.
func (v Info) Line() string {
	parts := plaintext.Texts{v.Go, v.Platform, v.API}
	parts.Add(v.Commit != "", "commit %s", v.Commit)
	parts.Add(v.Date != "", "%s", v.Date)
	return fmt.Sprintf("winnow %s (%s)\n", v.Version, strings.Join(parts, ", "))
}

// Documents returns an empty document of each kind that -o json prints.
func Documents() []any {
	return []any{This()}
}

// New returns winnow version.
func New() *cobra.Command {
	var format *flags.Choice
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: "Print the version of Winnow, its commit and the date of that, the version of Go\n" +
			"that it was built with, the platform that it was built for, and the version of\n" +
			"the API that it reads and writes.",
		Example:           "  winnow version\n  winnow version -o json",
		Args:              flags.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return output.Write(cmd.OutOrStdout(), format.Value, This())
		},
	}
	format = flags.AddFormats(cmd, output.FormatTable, output.FormatJSON, output.FormatYAML)
	return cmd
}

// Table is part of output.View.
func (v Info) Table(w io.Writer) { fmt.Fprint(w, v.Line()) }

// Number is the version that the linker set or, for `go install`, the module's.
func Number() string {
	if linked != "dev" {
		return linked
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return linked
	}
	return info.Main.Version
}
