package main

import (
	"io"

	"github.com/spf13/cobra"
)

const quietFlag = "quiet"

// streams are the outputs of a verb: stdout for the result, stderr for errors in detail, and notes.
type streams struct{ stdout, stderr, notes io.Writer }

// quiet reports whether notes are discarded.
func (s streams) quiet() bool { return s.notes == io.Discard }

// notes returns the writer for warnings, summaries and progress. With --quiet it discards them.
func notes(cmd *cobra.Command) io.Writer {
	// The only error is that there is no such flag.
	if quiet, _ := cmd.Flags().GetBool(quietFlag); quiet {
		return io.Discard
	}
	return cmd.ErrOrStderr()
}
