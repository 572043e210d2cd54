// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// position is where something is in the input.
type position struct {
	file string
	// document and item count from 1. They are 0 where there is only one.
	document, item int
	// before is the number of lines in the file before the document, if exact.
	before int
	// exact reports whether the definition has the lines of the input.
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

// nameOf returns the name of an object, empty without one.
func nameOf(object *yaml.Node) string {
	name, _ := yamlnode.Text(yamlnode.Written(yamlnode.Written(object, "metadata"), "name"))
	return name
}

// errAliases refuses what kubectl and Helm do not write.
var errAliases = errors.New("it has aliases or merge keys, which are taken in definitions only: write them out")

// scalar returns a scalar, which need not be a string, as Helm reads it into one; empty for anything else.
func scalar(node *yaml.Node, name string) string {
	value := yamlnode.Written(node, name)
	if value == nil || yamlnode.IsNull(value) {
		return ""
	}
	return dialect.Key(value)
}
