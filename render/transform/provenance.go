package transform

import (
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// provenance annotates the object with the digest of its source.
type provenance struct{ enabled bool }

func (p provenance) concerns(Input) bool { return p.enabled }

func (p provenance) apply(in Input, doc *document, _ *Output) *Error {
	const field = "spec.provenance"
	if in.SourceDigest == "" {
		return &Error{Field: field, Err: errors.New("the digest of the source is not known")}
	}
	metadata := lookup(doc.content(), "metadata")
	if metadata == nil || metadata.Kind != yaml.MappingNode {
		return &Error{Field: field, Err: errors.New("the document has no metadata")}
	}
	digest := newMapping()
	digest.Content = []*yaml.Node{newString(v1alpha1.SourceDigestAnnotation), newString(in.SourceDigest)}
	wanted := newMapping()
	wanted.Content = []*yaml.Node{newString("annotations"), digest}
	m := merger{doc: doc, override: true}
	if m.changes(metadata, wanted) {
		m.merge(metadata, wanted)
	}
	return failed(field, doc.flush())
}
