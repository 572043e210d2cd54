package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// version is set by the linker.
var version = "dev"

type versionInfo struct {
	document
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisVersion describes the running program.
func thisVersion() versionInfo {
	return versionInfo{newDocument("Version"), version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

// line returns the version in a line.
func (v versionInfo) line() string {
	return fmt.Sprintf("winnow %s (%s, %s)\n", v.Version, v.Go, v.Platform)
}

func newVersionCommand() *cobra.Command {
	var output *choice
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: "Print the version of Winnow, the version of Go that it was built with, and the\n" +
			"platform that it was built for.",
		Example:           "  winnow version\n  winnow version -o json",
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := thisVersion().format(output.value)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), text)
			return err
		},
	}
	output = addFormats(cmd, formatTable, formatJSON, formatYAML)
	return cmd
}

func (v versionInfo) format(output string) (string, error) {
	switch output {
	case formatJSON:
		text, err := json.MarshalIndent(v, "", "  ")
		return string(text) + "\n", err
	case formatYAML:
		text, err := yaml.Marshal(v)
		return string(text), err
	}
	return v.line(), nil
}
