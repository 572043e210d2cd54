// SPDX-License-Identifier: Apache-2.0

// Package record keeps the last publication in the status of a selection: the baseline of the safeguards, and
// the inputs to render the artifact again. It must not know how revisions are compared or rendered.
package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/klauspost/compress/gzip"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Record is the content of status.writtenRecord: all that is needed to compare a new revision with the
// artifact, and to render the artifact again. It outlives the data directory.
type Record struct {
	// Spec that was rendered, without the fields that do not affect the artifact.
	Spec v1alpha1.CatalogSelectionSpec `json:"spec"`
	// URLs of the sources' artifacts, in the order of status.sources.
	URLs []string `json:"urls,omitempty"`
	// Locations of the catalogs of the sources, in the same order; nil for a source without a contract.
	Locations []*source.Location `json:"carriers,omitempty"`
	// Definitions in the artifact, with short digests of origins unless the safeguards hold a change of them.
	Definitions []safeguard.Definition `json:"definitions"`
	// Kept are objects that left the render and that the artifact still has, with their Files.
	Kept  []live.Staying `json:"kept,omitempty"`
	Files []render.File  `json:"files,omitempty"`
	// Revisions that were published, the latest first, bounded.
	Revisions []string `json:"revisions,omitempty"`
}

// Formats of records, beside the packed content. A change that an older controller would misread takes the next number.
const (
	CurrentFormat = 2
	// ContentsFormat is the format of records with contents, which older controllers would take for live objects.
	ContentsFormat = 3
)

// maxRevisions bounds the revisions of a record. An older artifact that a tag refers to is compared by its
// content.
const maxRevisions = 100

// Bounds of a record in bytes: packed, before base64 makes it a third longer (the CRD has a maxLength of
// 256 KiB), and unpacked, because the status is untrusted.
const (
	maxRecord         = 192 << 10
	maxUnpackedRecord = 16 << 20
	// maxElements bounds what begins or separates the elements of lists and mappings: an empty definition of three bytes
	// takes a hundred times of that in memory.
	maxElements = 300_000
)

// isReadable reports whether the unpacked content of a record may be decoded. The signs inside of texts count as well.
func isReadable(content []byte) bool {
	elements := 0
	for _, sign := range []string{",", "[", "{"} {
		elements += bytes.Count(content, []byte(sign))
	}
	return len(content) <= maxUnpackedRecord && elements <= maxElements
}

// ErrNone reports that the status does not have a readable record of its artifact.
var ErrNone = errors.New("status.writtenRecord is missing or cannot be read")

// newerRecordError reports that a newer controller has written the record. It is an ErrNone, because this
// controller does not know the meaning of its fields.
type newerRecordError struct{ format int32 }

func (e *newerRecordError) Error() string {
	return fmt.Sprintf("status.writtenRecord has the format %d of a newer Winnow, and this one reads formats up to %d",
		e.format, ContentsFormat)
}

// Is implements errors.Is.
func (e *newerRecordError) Is(target error) bool { return target == ErrNone }

// Publication is the input of a record.
type Publication struct {
	Sources []source.Loaded
	Result  *render.Result
	// Kept and Files are fields of the record.
	Kept  []live.Staying
	Files []render.File
	// Last is the record of the previous publication; nil if it cannot be read.
	Last *Record
	// Newer is the revision of a publication that the status does not know; empty without one.
	Newer string
}

// New returns the record of the next publication of a selection, whose status describes the last one.
func New(cs *v1alpha1.CatalogSelection, p Publication) Record {
	// Of nothing, the list is empty: without one, Read takes the record for one that cannot be read.
	definitions := append([]safeguard.Definition{}, p.Result.Compared()...)
	if cs.Spec.Safeguards.OnSourceChange != v1alpha1.SafeguardHold {
		definitions = shortened(definitions)
	}
	r := Record{Spec: guard.RenderedSpec(cs), Kept: p.Kept, Files: p.Files, Definitions: definitions, Revisions: []string{p.Result.Revision}}
	for _, s := range p.Sources {
		r.URLs = append(r.URLs, s.Artifact.URL)
		r.Locations = append(r.Locations, s.Location)
	}
	if !slices.ContainsFunc(r.Locations, func(l *source.Location) bool { return l != nil }) {
		r.Locations = nil
	}
	for _, revision := range append([]string{p.Newer}, p.Last.PublishedRevisions(cs)...) {
		if revision != "" && !slices.Contains(r.Revisions, revision) && len(r.Revisions) < maxRevisions {
			r.Revisions = append(r.Revisions, revision)
		}
	}
	return r
}

// PublishedRevisions returns the published revisions, the latest first; r may be nil.
func (r *Record) PublishedRevisions(cs *v1alpha1.CatalogSelection) []string {
	if r != nil {
		return r.Revisions
	}
	var revisions []string
	if cs.Status.Artifact != nil {
		revisions = append(revisions, cs.Status.Artifact.Revision)
	}
	for _, snapshot := range cs.Status.History {
		revisions = append(revisions, snapshot.Metadata["revision"])
	}
	return revisions
}

// compressors and decompressors are reused: they have large tables.
var (
	compressors = sync.Pool{New: func() any {
		compressor, _ := gzip.NewWriterLevel(nil, gzip.BestCompression) // fails only for an invalid level
		return compressor
	}}
	decompressors = sync.Pool{New: func() any { return new(gzip.Reader) }}
)

// Pack returns the record in the form of the status, nil if it is too large.
func (r Record) Pack() (*v1alpha1.WrittenRecord, error) {
	content, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding the record of the artifact: %w", err)
	}
	var packed bytes.Buffer
	compressor := compressors.Get().(*gzip.Writer)
	defer compressors.Put(compressor)
	compressor.Reset(&packed)
	_, err = compressor.Write(content)
	if err := errors.Join(err, compressor.Close()); err != nil {
		return nil, fmt.Errorf("packing the record of the artifact: %w", err)
	}
	if packed.Len() > maxRecord || !isReadable(content) { // too large
		if lean, ok := r.lean(); ok {
			return lean.Pack()
		}
		return nil, nil
	}
	format := int32(CurrentFormat)
	if slices.ContainsFunc(r.Definitions, func(d safeguard.Definition) bool { return !d.IsObject() }) {
		format = ContentsFormat
	}
	return &v1alpha1.WrittenRecord{Format: format, Packed: packed.Bytes()}, nil
}

// Read reads the record of the artifact from the status. Every error is an ErrNone. A record without revisions, or with another
// latest one, does not belong to the artifact.
func Read(cs *v1alpha1.CatalogSelection) (*Record, error) {
	written := cs.Status.WrittenRecord
	switch {
	case written == nil || written.Format < CurrentFormat:
		return nil, ErrNone
	case written.Format > ContentsFormat:
		return nil, &newerRecordError{written.Format}
	}
	r, err := unpack(written.Packed)
	if err != nil {
		return nil, err
	}
	if len(r.Revisions) == 0 || cs.Status.Artifact != nil && r.Revisions[0] != consumers.RevisionOf(cs) {
		return nil, ErrNone
	}
	return r, nil
}

// unpack reads the packed content of a record. Every error is ErrNone.
func unpack(packed []byte) (*Record, error) {
	decompressor := decompressors.Get().(*gzip.Reader)
	defer decompressors.Put(decompressor)
	if decompressor.Reset(bytes.NewReader(packed)) != nil {
		return nil, ErrNone
	}
	content, err := io.ReadAll(io.LimitReader(decompressor, maxUnpackedRecord+1))
	if err != nil || !isReadable(content) {
		return nil, ErrNone
	}
	var r Record
	if json.Unmarshal(content, &r) != nil || r.Definitions == nil { // of an artifact without objects, the list is empty
		return nil, ErrNone
	}
	return &r, nil
}

// Published returns the definitions of the last publication; none for a nil record.
func (r *Record) Published() []safeguard.Definition {
	if r == nil {
		return nil
	}
	return r.Definitions
}

// IsOf reports whether the selection has the spec that was rendered.
func (r *Record) IsOf(cs *v1alpha1.CatalogSelection) bool {
	return equality.Semantic.DeepEqual(r.Spec, guard.RenderedSpec(cs))
}

// Live returns what a cluster has of the artifact of the selection; nil if that is not known.
func Live(cs *v1alpha1.CatalogSelection) []safeguard.Definition {
	if cs.Status.Artifact == nil {
		return nil
	}
	r, _ := Read(cs)
	return r.Live()
}

// Live returns what a cluster has of the artifact; nil for a nil record.
func (r *Record) Live() []safeguard.Definition {
	if r == nil {
		return nil
	}
	all := slices.Clone(r.Definitions)
	for _, s := range r.Kept {
		all = append(all, s.Definition)
	}
	return slices.DeleteFunc(all, func(d safeguard.Definition) bool { return !d.IsObject() })
}

// HasOrigins reports whether the record has whole digests of the origins of versions.
func (r *Record) HasOrigins() bool {
	return slices.ContainsFunc(r.Definitions, func(d safeguard.Definition) bool { return !slices.Equal(d.Origins, d.Origins.Short()) })
}

// lean returns a smaller record, not ok if it cannot be smaller: first it shortens the digests of origins, then it removes them and
// the digests of locked values. Winnow then cannot tell which value changed, but without any record every change is held.
func (r Record) lean() (smaller Record, ok bool) {
	if r.HasOrigins() {
		r.Definitions = shortened(r.Definitions)
		return r, true
	}
	r.Definitions = slices.Clone(r.Definitions)
	for i, d := range r.Definitions {
		ok = ok || d.Origins != nil || len(d.Locked) > 1
		r.Definitions[i].Origins = nil
		if len(d.Locked) > 1 {
			r.Definitions[i].Locked = map[string]string{"": d.Locked[""]}
		}
	}
	return r, ok
}

// shortened returns copies of definitions with short digests of origins.
func shortened(definitions []safeguard.Definition) []safeguard.Definition {
	short := slices.Clone(definitions)
	for i, d := range short {
		short[i].Origins = d.Origins.Short()
	}
	return short
}

// Observed returns the sources of the publication as they were observed.
func (r *Record) Observed(cs *v1alpha1.CatalogSelection) ([]source.Observed, error) {
	n := len(cs.Status.Sources)
	if n == 0 || len(r.URLs) != n || len(r.Spec.Sources) != n {
		return nil, errors.New("the sources of the publication are not known")
	}
	observed := make([]source.Observed, n)
	for i, s := range cs.Status.Sources {
		observed[i] = source.Observed{
			Kind: s.Kind, Name: types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, Place: render.LocationOf(r.Spec.Sources[i]),
			Artifact: meta.Artifact{Revision: s.Revision, Digest: s.Digest, URL: r.URLs[i]},
		}
		if len(r.Locations) == n {
			observed[i].Location = r.Locations[i]
		}
	}
	return observed, nil
}
