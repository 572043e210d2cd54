package main

import (
	"io"

	"github.com/spf13/cobra"
)

const quietFlag = "quiet"

// streams are where a verb writes: its answer, errors in detail, and notes.
type streams struct{ stdout, stderr, notes io.Writer }

// quiet reports whether notes are not wanted.
func (s streams) quiet() bool { return s.notes == io.Discard }

// notes returns where warnings, summaries and progress go: nowhere with --quiet.
func notes(cmd *cobra.Command) io.Writer {
	// The only error is that there is no such flag.
	if quiet, _ := cmd.Flags().GetBool(quietFlag); quiet {
		return io.Discard
	}
	return cmd.ErrOrStderr()
}
