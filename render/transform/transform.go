package transform

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/identity"
)

// kkpGroup is the API group of the Kubermatic Kubernetes Platform.
const kkpGroup = "apps.kubermatic.k8c.io"

// ErrMismatch says that an edited document does not say what it was meant to say. It is a
// defect of this package; the document is never handed out.
var ErrMismatch = errors.New("internal error: the edited document differs from what was intended")

// Config is what a selection changes in documents. The zero value leaves out the
// DefaultOmitFields of KKP's objects and changes nothing else.
type Config struct {
	// Values are merged into default values, in order.
	Values []ValuesRule
	// Mirrors replace prefixes of addresses.
	Mirrors []Mirror
	// CollectHosts asks for Output.Hosts although there are no mirrors.
	CollectHosts bool
	// OmitFields are dotted paths below spec. Nil: DefaultOmitFields for KKP's group and none
	// for others; empty: none.
	OmitFields []string
	// AnnotateSource writes the digest of the source into the object.
	AnnotateSource bool
}

// ValuesRule merges values into the default values of the named applications.
type ValuesRule struct {
	Names []string
	// Defaults is a JSON object that fills what the catalog does not set; empty: nothing.
	Defaults []byte
	// Overrides is a JSON object that wins over what the catalog sets; empty: nothing.
	Overrides []byte
}

// Mirror replaces the prefix From of addresses by To. Both are host[:port][/path], and To may have a
// scheme, oci:// or https://, for charts and Git repositories.
type Mirror struct {
	From, To string
	// Helm replaces how charts of the mirror are fetched; nil: as the document says.
	Helm *v1alpha1.MirrorHelm
}

// Input is one application and what is to become of it.
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
	// Identity is what the document says about live releases and the origins of versions.
	Identity identity.Facts
	// Omitted are the indexes in Config.OmitFields of those that the document had.
	Omitted []int
	// Hosts that the document refers to, sorted and each once per path; empty without
	// mirrors and CollectHosts.
	Hosts []Host
	// Unreadable says why the default values could not be searched for addresses. Empty if
	// they were searched, or searching was not asked for.
	Unreadable string
}

// Kind is what is fetched from a host.
type Kind string

// Kinds of hosts. What a URL inside of values is for, and whether it is fetched at all, is
// unknown; the other kinds are fetched to install the application.
const (
	KindChart Kind = "chart"
	KindGit   Kind = "git"
	KindImage Kind = "image"
	KindURL   Kind = "url"
)

// Host is a host that a document refers to.
type Host struct {
	// Host as it was written, with its port. Implied ones of images are docker.io.
	Host string
	// Path of the field, such as spec.versions[0].template.source.helm.url.
	Path string
	Kind Kind
	// Covered says that a mirror replaced it, or that it is already the target of one.
	Covered bool
	// Reference is what is fetched from it.
	Reference
}

// Error says that a document cannot be transformed as the selection asks, or that the
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

// Pipeline is a compiled Config. It is immutable and safe for concurrent use.
type Pipeline struct {
	steps []step
}

// step is one transformer.
type step interface {
	// concerns reports, without parsing, whether the document may have to be changed.
	concerns(in Input) bool
	// apply changes the document. The error gets the application's name from the pipeline.
	apply(in Input, doc *document, out *Output) *Error
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
	return &Pipeline{steps: []step{added{}, versions{}, values, mirrors, omit, provenance{enabled: c.AnnotateSource}}}, nil
}

// Referring returns a pipeline that collects Output.Hosts whatever Config.CollectHosts is, and ends
// with the mirrors: what comes after them changes no address.
func (p *Pipeline) Referring() *Pipeline {
	var steps []step
	for _, s := range p.steps {
		if m, ok := s.(mirrors); ok {
			m.enabled = true
			return &Pipeline{steps: append(steps, m)}
		}
		steps = append(steps, s)
	}
	return p
}

// MirrorOf returns the From of the mirror that has what a transformed document refers to by a URL; empty without one.
func (p *Pipeline) MirrorOf(url string) string {
	parsed, ok := parseURL(url)
	if !ok {
		return ""
	}
	for _, s := range p.steps {
		if m, isMirrors := s.(mirrors); isMirrors {
			if found, _ := m.match(parsed.location, parsed.scheme); found != nil {
				return found.from
			}
		}
	}
	return ""
}

// Apply transforms one application. A document in which nothing changes is returned as the
// same slice. The error is an *Error, or the context's, which is checked before each step.
func (p *Pipeline) Apply(ctx context.Context, in Input) (Output, error) {
	out := Output{Document: in.Application.Document, Identity: in.Application.Identity}
	var doc *document
	for _, s := range p.steps {
		if !s.concerns(in) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return Output{}, fmt.Errorf("transforming application %s: %w", in.Application.Name, err)
		}
		if doc == nil {
			parsed, err := parse(in.Application.Document)
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
	if doc != nil && !bytes.Equal(doc.data, out.Document) {
		out.Document, out.Identity = doc.data, catalog.IdentityOf(doc.content())
	}
	slices.SortFunc(out.Hosts, func(a, b Host) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Path, b.Path))
	})
	out.Hosts = slices.Compact(out.Hosts)
	return out, nil
}

// failed turns the error of an edit into one that names the field.
func failed(field string, err error) *Error {
	if err == nil {
		return nil
	}
	return &Error{Field: field, Err: fmt.Errorf("changing the document: %w", err)}
}
