// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Skipped is a definition, or another part of the input, that was not imported.
type Skipped struct {
	// Place is the file, with the document and the item in it if it has several.
	Place string
	// Name of the application, empty where it is not known.
	Name string
	// Reason in a line.
	Reason string
}

// Where returns the place and the name. It contains text of the input, which is not trusted, as Reason does.
func (s Skipped) Where() string {
	if s.Name == "" {
		return s.Place
	}
	return s.Place + ": " + excerpt.Of(s.Name)
}

// syntaxError returns what the parser found, with the line in the file.
func (p position) syntaxError(err error, text []byte) Skipped {
	line, message := yamlnode.Position(err, text)
	return Skipped{Place: p.String(), Reason: p.line(line) + "it is not valid YAML: " + message}
}
