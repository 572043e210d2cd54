// SPDX-License-Identifier: Apache-2.0

package output

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// IsTerminal reports whether an output is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Escape sequences of terminals.
const (
	Red       = "\x1b[31m"
	Yellow    = "\x1b[33m"
	ColourEnd = "\x1b[0m"
)

// columnsOfTerminal returns the width of a terminal, plaintext.MaxLine if it has none.
func columnsOfTerminal(w io.Writer) int {
	if file, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return plaintext.MaxLine
}

// WidthOf returns the width of an output in columns, from the variable COLUMNS or else from the terminal. It returns 0 for a
// pipe or a file, whose lines are not cut.
func WidthOf(w io.Writer) int {
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	if IsTerminal(w) {
		return columnsOfTerminal(w)
	}
	return 0
}
