// SPDX-License-Identifier: Apache-2.0

package version

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// Info describes a program.
type Info struct {
	output.Document
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// linked is the version that the linker sets.
var linked = "dev"

// This describes the running program.
func This() Info {
	return Info{output.NewDocument("Version"), Number(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

// Line returns the version in a line.
func (v Info) Line() string {
	return fmt.Sprintf("winnow %s (%s, %s)\n", v.Version, v.Go, v.Platform)
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
		Long: "Print the version of Winnow, the version of Go that it was built with, and the\n" +
			"platform that it was built for.",
		Example:           "  winnow version\n  winnow version -o json",
		Args:              flags.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := This().format(format.Value)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), text)
			return err
		},
	}
	format = flags.AddFormats(cmd, output.FormatTable, output.FormatJSON, output.FormatYAML)
	return cmd
}

func (v Info) format(format string) (string, error) {
	switch format {
	case output.FormatJSON:
		text, err := json.MarshalIndent(v, "", "  ")
		return string(text) + "\n", err
	case output.FormatYAML:
		text, err := yaml.Marshal(v)
		return string(text), err
	}
	return v.Line(), nil
}

// Number is the version that the linker set or, for `go install`, that of the module.
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
