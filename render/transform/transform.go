// SPDX-License-Identifier: Apache-2.0

// Package transform applies what a selection changes in the document of an application: which
// versions stay, default values, mirrors, omitted fields and provenance. A transformer is one
// file; they run in a fixed order that New explains.
//
// Documents are edited as text: only the lines that have to change do, and the order of fields,
// the comments and the quotes stay. What cannot be spliced safely (a document with aliases or merge
// keys, which an edit expands) is encoded again as a whole, with comments and order but not the layout.
// To encode every document would be less code, but drops blank lines, indents lists and folds or quotes
// texts in other ways: in lines that no edit concerns, and in default values that users see in the cluster.
//
// Each edit is made on the parsed document as well, and the result is parsed again and compared with it.
//
// The package must not know the criteria of selections, files, or Kubernetes clients.
package transform

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/identity"
	"github.com/winnow-dev/winnow/render/yamledit"
)

// Pipeline is a compiled Config. It is immutable and safe for concurrent use.
type Pipeline struct {
	before  []step
	mirrors mirrors
	after   []step
}

// New compiles a configuration. The error is an *Error, or several joined.
func New(c Config) (*Pipeline, error) {
	values, err := newValues(c.Values)
	mirrors, mirrorsErr := newMirrors(c.Mirrors, c.CollectHosts)
	omit, omitErr := newOmitFields(c.OmitFields)
	if err := errors.Join(err, mirrorsErr, omitErr); err != nil {
		return nil, err
	}
	// The order is part of the contract:
	//  1. added:    before versions, which may drop all of the document's own;
	//  2. versions: what is dropped needs no rewriting, and its hosts no mirror;
	//  3. values:   before mirrors, so that images in the selection's own values are mirrored;
	//  4. mirrors:  before omitFields, so that it sees all that the document may bring along;
	//  5. omitFields: after everything that could write a field that is not wanted;
	//  6. provenance: last, because nothing may change or remove it.
	return &Pipeline{[]step{added{}, versions{}, values}, mirrors, []step{omit, provenance{enabled: c.AnnotateSource}}}, nil
}

// Referring returns a pipeline that collects Output.Hosts whatever Config.CollectHosts is, and ends
// with the mirrors: what comes after them changes no address.
func (p *Pipeline) Referring() *Pipeline {
	collecting := p.mirrors
	collecting.enabled = true
	return &Pipeline{before: p.before, mirrors: collecting}
}

// MirrorOf returns the From of the mirror that a URL in a transformed document refers to; empty without one.
func (p *Pipeline) MirrorOf(url string) string {
	parsed, ok := parseURL(url)
	if !ok {
		return ""
	}
	if found, _ := p.mirrors.match(parsed.location, parsed.scheme); found != nil {
		return found.from
	}
	return ""
}

// MirrorOfImage returns where a mirror has an image, which FullImage has written out: the same address if it is one of a
// mirror, and an empty one if no mirror covers it.
func (p *Pipeline) MirrorOfImage(address string) string {
	if mirrored, covered := p.mirrors.rewrite(address); covered {
		return mirrored
	}
	return ""
}

// Apply transforms one application. A document in which nothing changes is returned as the
// same slice. The error is an *Error, or the context's, which is checked before each step.
func (p *Pipeline) Apply(ctx context.Context, in Input) (Output, error) {
	out := Output{Document: in.Application.Document, Identity: in.Application.Identity}
	var doc *yamledit.Document
	for _, s := range slices.Concat(p.before, []step{p.mirrors}, p.after) {
		if !s.concerns(in) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return Output{}, fmt.Errorf("transforming application %s: %w", in.Application.Name, err)
		}
		if doc == nil {
			parsed, err := yamledit.Parse(in.Application.Document)
			if err != nil {
				return Output{}, &Error{Application: in.Application.Name, Field: "spec.sources", Err: err}
			}
			doc = parsed
		}
		if err := s.apply(in, doc, &out); err != nil {
			err.Application = in.Application.Name
			return Output{}, err
		}
	}
	if doc != nil && !bytes.Equal(doc.Data, out.Document) {
		out.Document, out.Identity = doc.Data, identity.Of(definition.Node{Node: doc.Content()})
	}
	slices.SortFunc(out.Hosts, func(a, b Host) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Path, b.Path))
	})
	out.Hosts = slices.Compact(out.Hosts)
	return out, nil
}

// Config is what a selection changes in documents. The zero value leaves out the
// DefaultOmitFields of KKP's objects and changes nothing else.
type Config struct {
	// Values are merged into default values, in order.
	Values []v1alpha1.ValuesRule
	// Mirrors replace the prefixes From of addresses with To.
	Mirrors []v1alpha1.Mirror
	// CollectHosts asks for Output.Hosts although there are no mirrors.
	CollectHosts bool
	// OmitFields are dotted paths below spec. Nil: DefaultOmitFields for KKP's group and none
	// for others; empty: none.
	OmitFields []string
	// AnnotateSource writes the digest of the source into the object.
	AnnotateSource bool
}
