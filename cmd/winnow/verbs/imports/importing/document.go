// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/winnow-dev/winnow/render/catalog/document"
)

// position is where something is in the input.
type position struct {
	file string
	// document and item count from 1. They are 0 where there is only one.
	document, item int
	// before is the number of lines in the file before the document, if exact.
	before int
	// exact reports whether the lines of the definition are those of the input.
	exact bool
}

func (p position) String() string {
	text := p.file
	if p.document > 0 {
		text += fmt.Sprintf(": document %d", p.document)
	}
	if p.item > 0 {
		text += fmt.Sprintf(": item %d", p.item)
	}
	return text
}

// line returns "line N: " for a line of the document, empty where it is not known.
func (p position) line(n int) string {
	if n == 0 || !p.exact {
		return ""
	}
	return fmt.Sprintf("line %d: ", p.before+n)
}

// split cuts a file into its documents, without the markers and directives around them. Comments before a document, such as
// a licence, stay.
func split(content []byte) []document.Piece {
	pieces := document.Split(bytes.TrimPrefix(content, []byte("\ufeff")))
	for i, p := range pieces {
		for line := range bytes.Lines(p.Data) {
			text := bytes.TrimSpace(line)
			if len(text) > 0 && line[0] != '%' && string(text) != "---" {
				break
			}
			p.Data = p.Data[len(line):]
			p.Above++
		}
		if behind, ok := bytes.CutPrefix(p.Data, []byte("--- ")); ok {
			p.Data = bytes.TrimLeft(behind, " \t")
		}
		p.Data = endMarker.ReplaceAll(p.Data, nil)
		pieces[i] = p
	}
	return pieces
}

var endMarker = regexp.MustCompile(`(?m)^\.\.\.\s*\z`)
