// SPDX-License-Identifier: Apache-2.0

package get

import (
	"fmt"
	"io"

	"github.com/winnow-dev/winnow/cmd/winnow/live"
)

// changes prints a table of selections, and then the rows that change.
type changes struct {
	layout layout
	out    io.Writer
	// header is the one that was printed last, and rows are the last ones by namespace and name.
	header string
	rows   map[string]string
}

// print prints the rows that differ from what was printed last, below a header where that differs. It returns the error
// of the output, such as that of a pipe that is closed.
func (c *changes) print(change live.Change) error {
	table := newSelectionTable(worstFirst(append(change.All, change.Deleted...)), c.layout)
	if header := table.header(); header != c.header && len(table.found) > 0 {
		c.header = header
		if c.layout.headers {
			if _, err := fmt.Fprintln(c.out, header); err != nil {
				return err
			}
		}
	}
	if c.rows == nil {
		c.rows = map[string]string{}
	}
	for _, s := range worstFirst(change.Changed) {
		// Another width of a column is no change of the selection.
		name, row := s.Key().String(), newSelectionTable([]*live.Selection{s}, c.layout).row(s)
		if c.rows[name] == row {
			continue
		}
		c.rows[name] = row
		if _, err := fmt.Fprintln(c.out, table.row(s)); err != nil {
			return err
		}
	}
	for _, s := range change.Deleted {
		delete(c.rows, s.Key().String())
		if _, err := fmt.Fprintln(c.out, table.line(s, "deleted")); err != nil {
			return err
		}
	}
	return nil
}
