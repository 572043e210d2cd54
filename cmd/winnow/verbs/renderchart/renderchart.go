// SPDX-License-Identifier: Apache-2.0

// Package renderchart is winnow sandbox, which no help names: the process in which other verbs render a chart.
package renderchart

import (
	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/sandbox"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// New returns winnow sandbox.
func New() *cobra.Command {
	return &cobra.Command{
		Use:    sandbox.Verb,
		Hidden: true,
		Short:  "Render the chart that another process of winnow writes",
		Long: "Render a chart, which other verbs write to standard input with the limits of\n" +
			"the process. It is for them alone: what it reads and prints may change.",
		Example: "  winnow " + sandbox.Verb,
		Args:    flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return output.Unusable(sandbox.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout()))
		},
	}
}
