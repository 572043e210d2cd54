// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// AddGlobal adds the flags of all verbs.
func AddGlobal(root *cobra.Command) {
	root.PersistentFlags().BoolP(quietFlag, "q", false, "print no notes and progress, only errors")
	root.PersistentFlags().Bool(noColorFlag, false, "no colours on a terminal, as with NO_COLOR=1")
}

const quietFlag = "quiet"

// StreamsOf returns the outputs of a verb.
func StreamsOf(cmd *cobra.Command) output.Streams {
	return output.Streams{Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(), Notes: Notes(cmd)}
}

// Notes returns the writer for warnings, summaries and progress. With --quiet it discards them.
func Notes(cmd *cobra.Command) io.Writer {
	// The only error is that there is no such flag.
	if quiet, _ := cmd.Flags().GetBool(quietFlag); quiet {
		return io.Discard
	}
	return cmd.ErrOrStderr()
}

// noColorFlag is the flag that turns colours off, as the variable NO_COLOR does.
const noColorFlag = "no-color"

// HasColour reports whether an output has colour: a terminal that can show it, unless https://no-color.org or the flag
// says otherwise.
func HasColour(cmd *cobra.Command, w io.Writer) bool {
	// The only error is that there is no such flag.
	off, _ := cmd.Flags().GetBool(noColorFlag)
	return !off && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && output.IsTerminal(w)
}
