// SPDX-License-Identifier: Apache-2.0

package output

import (
	"fmt"
	"io"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/registry/redact"
)

// Streams are the outputs of a verb: stdout for the result, stderr for errors in detail, and notes.
type Streams struct{ Stdout, Stderr, Notes io.Writer }

// Quiet reports whether notes are discarded.
func (s Streams) Quiet() bool { return s.Notes == io.Discard }

// Warn writes a warning.
func Warn(notes io.Writer, text string) { PrintNote(notes, "warning: "+text) }

// PrintNote writes a text: wrapped on a terminal, and otherwise in one line, so that grep finds all of it.
func PrintNote(notes io.Writer, text string) {
	text = plaintext.Line(redact.Text(text))
	if IsTerminal(notes) {
		text = plaintext.Wrap(text, "")
	}
	fmt.Fprintln(notes, text)
}
