// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/yamledit"
)

// provenance annotates the object with the digest of its source.
type provenance struct{ enabled bool }

func (p provenance) concerns(Input) bool { return p.enabled }

func (p provenance) apply(in Input, doc *yamledit.Document, _ *Output) *Error {
	const field = "spec.provenance"
	if in.SourceDigest == "" {
		return &Error{Field: field, Err: errors.New("the digest of the source is not known")}
	}
	metadata := yamledit.Lookup(doc.Content(), "metadata")
	if metadata == nil || metadata.Kind != yaml.MappingNode {
		return &Error{Field: field, Err: errors.New("the document has no metadata")}
	}
	wanted := mappingOf("annotations", mappingOf(v1alpha1.SourceDigestAnnotation, yamledit.NewString(in.SourceDigest)))
	m := yamledit.Merger{Doc: doc, Override: true}
	if m.Changes(metadata, wanted) {
		m.Merge(metadata, wanted)
	}
	return failed(field, doc.Flush())
}
