// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/spelling"
)

// The schemas that OLM knows. Any other one is kept as it is.
const (
	SchemaPackage     = "olm.package"
	SchemaChannel     = "olm.channel"
	SchemaBundle      = "olm.bundle"
	SchemaDeprecation = "olm.deprecations"
)

// Meant returns the schema of OLM that the blob probably means by one that OLM does not know; empty if there is none.
func (b *Blob) Meant() string {
	known := []string{SchemaPackage, SchemaChannel, SchemaBundle, SchemaDeprecation}
	if slices.Contains(known, b.Schema) {
		return ""
	}
	return spelling.Typo(b.Schema, known)
}

// Blob is a document of the catalog.
type Blob struct {
	Schema, Package, Name string
	// Path of its file, its number in it, and the line in which it begins, from 1.
	Path           string
	Document, Line int
	// Data are its bytes in the file, with the comments in and above it. Nothing may change them.
	Data []byte
	// JSON reports whether it is one of several JSON objects, which only readers of JSON can be relied on to read.
	JSON bool

	content any
}

// object returns the document as JSON that has one reading, and its top.
func (b *Blob) object() ([]byte, jsontext.Object, error) {
	data := b.Data
	if !b.JSON {
		converted, err := jsontext.FromYAML(data)
		if err != nil {
			return nil, jsontext.Object{}, err
		}
		if converted[0] != '{' {
			return nil, jsontext.Object{}, errNoMapping
		}
		data = converted
	}
	top, err := jsontext.Scan(data)
	if err != nil || top.Plain {
		return data, top, err
	}
	if data, err = jsontext.Normalized(data); err != nil {
		return nil, jsontext.Object{}, err
	}
	top, err = jsontext.Scan(data)
	return data, top, err
}

// Object returns the document in JSON's types; nil without one that can be read.
func (b *Blob) Object() map[string]any {
	data, _, err := b.object()
	var decoded map[string]any
	if err != nil || json.Unmarshal(data, &decoded) != nil {
		return nil
	}
	return decoded
}

var errNoMapping = errors.New("must be a mapping with a schema: a document may not have comments alone")

// of returns the name of the package that a blob belongs to, or is.
func (b *Blob) of() string {
	if b.Schema == SchemaPackage {
		return b.Name
	}
	return b.Package
}

// where states where a blob is, for a message about another one.
func (b *Blob) where() string { return fmt.Sprintf("%s:%d", b.Path, b.Line) }

// subject names what a blob describes.
func (b *Blob) subject() string {
	kind, known := map[string]string{SchemaPackage: "package", SchemaChannel: "channel", SchemaBundle: "bundle", SchemaDeprecation: "deprecations"}[b.Schema]
	switch {
	case !known:
		return ""
	case b.Name == "":
		return kind
	}
	return kind + " " + excerpt.Quoted(b.Name)
}
