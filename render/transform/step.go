// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/identity"
	"github.com/winnow-dev/winnow/render/yamledit"
)

// step is one transformer.
type step interface {
	// concerns reports, without parsing, whether the document may have to be changed.
	concerns(in Input) bool
	// apply changes the document. The error gets the application's name from the pipeline.
	apply(in Input, doc *yamledit.Document, out *Output) *Error
}

// Input is one application with what to keep of it.
type Input struct {
	Application *catalog.Application
	// Versions that stay, a subset of the application's, merged ones included.
	Versions []string
	// SourceDigest, <algorithm>:<checksum>, is used with AnnotateSource only.
	SourceDigest string
}

// Output is a transformed application.
type Output struct {
	// Document is the very slice of the catalog when nothing changed.
	Document []byte
	// Identity is what the document states about live releases and the origins of versions.
	Identity identity.Facts
	// Omitted are the indexes in Config.OmitFields of those that the document had.
	Omitted []int
	// Hosts that the document refers to, sorted and each once per path; empty without
	// mirrors and CollectHosts.
	Hosts []Host
	// Unreadable explains why the default values could not be searched for addresses. Empty if
	// they were searched, or searching was not asked for.
	Unreadable string
}

// Error reports that a document cannot be transformed as the selection asks, or that the
// configuration is wrong. It is permanent.
type Error struct {
	// Application is the metadata.name, or empty when the configuration is wrong.
	Application string
	// Field of the CatalogSelection that is to blame.
	Field string
	Err   error
}

// Error returns the field, the application and the cause.
func (e *Error) Error() string {
	if e.Application == "" {
		return e.Field + ": " + e.Err.Error()
	}
	return e.Field + ": application " + e.Application + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// mappingOf returns a mapping with one key.
func mappingOf(key string, value *yaml.Node) *yaml.Node {
	mapping := yamledit.NewMapping()
	mapping.Content = []*yaml.Node{yamledit.NewString(key), value}
	return mapping
}

// failed turns the error of an edit into one that names the field.
func failed(field string, err error) *Error {
	if err == nil {
		return nil
	}
	return &Error{Field: field, Err: fmt.Errorf("changing the document: %w", err)}
}
