// Package record keeps in the status of a selection what was published last: what the safeguards compare a
// new revision with, and what renders the artifact once more. It must not know how either is done.
package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Record is what status.writtenRecord holds: all that is needed to compare a new revision with the
// artifact, and to render the artifact once more. It outlives the data directory.
type Record struct {
	// Format of the record; see currentFormat. It stands here in formats 0 and 1, and beside what is
	// packed since.
	Format int32 `json:"format,omitempty"`
	// Spec that was rendered, without what does not matter to the artifact.
	Spec v1alpha1.CatalogSelectionSpec `json:"spec"`
	// URLs of the sources' artifacts, in the order of status.sources.
	URLs []string `json:"urls,omitempty"`
	// Locations of the catalogs of the sources, in the same order; nil where the content alone decided.
	Locations []*source.Location `json:"carriers,omitempty"`
	// Definitions in the artifact.
	Definitions []safeguard.Definition `json:"definitions"`
	// Sources are what selection reads of them; nil where that is too large.
	Sources []guard.RecordedSource `json:"sources,omitempty"`
	// PassedOver are the checksums of what was held when something else was published, the last ones
	// first, bounded: an approval of these came too late, and must not release them months later.
	PassedOver []string `json:"passedOver,omitempty"`
	// Revisions that were published, the last one first, bounded.
	Revisions []string `json:"revisions,omitempty"`
}

// Formats of records. A change that an older controller would misread takes the next number.
const (
	// attributedFormat is that of the first records with Sources and Revisions.
	attributedFormat = 1
	// currentFormat is the one that is written: status.writtenRecord, with the format beside what is
	// packed. Formats 0 and 1 are in status.published.
	currentFormat = 2
)

// maxRevisions bounds the revisions of a record. What a tag names beyond these is compared by its
// content.
const maxRevisions = 100

// Bounds of a record in bytes: as it is stored, before base64 makes it a third longer (the CRD
// has a maxLength of 256 KiB), and as it is unpacked, because the status is untrusted.
const (
	maxRecord         = 192 << 10
	maxUnpackedRecord = 64 << 20
)

// ErrNone says that the status does not have the record of its artifact.
var ErrNone = errors.New("status.writtenRecord is missing or cannot be read")

// newerRecordError says that the record is of a controller that is newer than this one. It is an
// ErrNone: what it says in a way that is not known is not known.
type newerRecordError struct{ format int32 }

func (e *newerRecordError) Error() string {
	return fmt.Sprintf("status.writtenRecord has the format %d of a newer Winnow, and this one reads formats up to %d",
		e.format, currentFormat)
}

// Is is part of errors.Is.
func (e *newerRecordError) Is(target error) bool { return target == ErrNone }

// Publication is what a record is made of.
type Publication struct {
	Sources []source.Loaded
	Result  *render.Result
	// Last is the record of the publication before; nil without one that can be read.
	Last *Record
}

// New returns the record of what is about to be published for a selection, whose status is that of the last
// publication.
func New(cs *v1alpha1.CatalogSelection, p Publication) Record {
	guarded := source.Guarded(p.Sources)
	r := Record{
		Spec: guard.RenderedSpec(cs), Definitions: p.Result.Definitions, Sources: guard.Record(guarded, p.Result.Definitions),
		PassedOver: passedOver(cs, p, append(guard.Checksums(guarded), guard.Checksum(p.Result.Revision))),
		Revisions:  []string{p.Result.Revision},
	}
	for _, s := range p.Sources {
		r.URLs = append(r.URLs, s.Artifact.URL)
		r.Locations = append(r.Locations, s.Location)
	}
	if !slices.ContainsFunc(r.Locations, func(l *source.Location) bool { return l != nil }) {
		r.Locations = nil
	}
	for _, revision := range p.Last.PublishedRevisions(cs) {
		if revision != p.Result.Revision && len(r.Revisions) < maxRevisions {
			r.Revisions = append(r.Revisions, revision)
		}
	}
	return r
}

// maxPassedOver bounds what a record knows to be passed over.
const maxPassedOver = 64

// passedOver returns the checksums of what was held and is not what is published now.
func passedOver(cs *v1alpha1.CatalogSelection, p Publication, now []string) []string {
	var all []string
	if held := cs.Status.Held; held != nil && p.Result.Revision != cluster.RevisionOf(cs) {
		for _, line := range held.Approve {
			sum, _, _ := strings.Cut(line, "#")
			all = append(all, sum)
		}
	}
	if p.Last != nil {
		all = append(all, p.Last.PassedOver...)
	}
	all = slices.DeleteFunc(all, func(sum string) bool { return slices.Contains(now, sum) })
	return slices.Clip(all[:min(len(all), maxPassedOver)])
}

// PublishedRevisions returns what was published so far, the last one first; r may be nil.
func (r *Record) PublishedRevisions(cs *v1alpha1.CatalogSelection) []string {
	if r != nil && len(r.Revisions) > 0 {
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

// Pack returns the record as the status holds it, nil when that is too large.
func (r Record) Pack() (*v1alpha1.WrittenRecord, error) {
	r.Format = 0
	var packed bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := json.NewEncoder(compressor).Encode(r); err != nil {
		return nil, fmt.Errorf("encoding the record of the artifact: %w", err)
	}
	if err := compressor.Close(); err != nil {
		return nil, fmt.Errorf("packing the record of the artifact: %w", err)
	}
	if packed.Len() > maxRecord && r.Sources != nil {
		r.Sources = nil // an edit then excuses nothing while the catalog changes
		return r.Pack()
	}
	if packed.Len() > maxRecord {
		if lean, ok := r.lean(); ok {
			return lean.Pack()
		}
		return nil, nil
	}
	return &v1alpha1.WrittenRecord{Format: currentFormat, Packed: packed.Bytes()}, nil
}

// Read reads the record of the artifact in the status. The error is an ErrNone, whatever is
// wrong with it.
//
// A publication clears status.published. Where it is there all the same, an older controller has
// published since, and status.writtenRecord is not of the artifact; nor is any record whose last
// revision is another one.
func Read(cs *v1alpha1.CatalogSelection) (*Record, error) {
	var r *Record
	var err error
	switch written := cs.Status.WrittenRecord; {
	case len(cs.Status.Published) > 0:
		if r, err = unpack(cs.Status.Published); err == nil && r.Format > attributedFormat {
			err = &newerRecordError{r.Format}
		}
	case written == nil || written.Format < currentFormat:
		err = ErrNone
	case written.Format > currentFormat:
		err = &newerRecordError{written.Format}
	default:
		if r, err = unpack(written.Packed); err == nil {
			r.Format = written.Format
		}
	}
	if err != nil {
		return nil, err
	}
	if len(r.Revisions) > 0 && cs.Status.Artifact != nil && r.Revisions[0] != cluster.RevisionOf(cs) {
		return nil, ErrNone
	}
	return r, nil
}

// unpack reads what is packed in a record. The error is ErrNone, whatever is wrong with it.
func unpack(packed []byte) (*Record, error) {
	decompressor, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, ErrNone
	}
	content, err := io.ReadAll(io.LimitReader(decompressor, maxUnpackedRecord+1))
	if err != nil || len(content) > maxUnpackedRecord {
		return nil, ErrNone
	}
	var r Record
	if err := json.Unmarshal(content, &r); err != nil || r.Definitions == nil {
		// An artifact without objects has an empty list.
		return nil, ErrNone
	}
	return &r, nil
}

// Published returns what a render is compared with; nothing of a record that is nil.
func (r *Record) Published() guard.Published {
	if r == nil {
		return guard.Published{}
	}
	return guard.Published{Spec: &r.Spec, Definitions: r.Definitions, Sources: r.Sources, Older: r.Format < attributedFormat}
}

// Rendered reports whether what is published of a selection was rendered from its present spec.
func Rendered(cs *v1alpha1.CatalogSelection) bool {
	r, err := Read(cs)
	return err == nil && equality.Semantic.DeepEqual(r.Spec, guard.RenderedSpec(cs))
}

// Definitions returns what the artifact of the selection holds; nil where that is not known.
func Definitions(cs *v1alpha1.CatalogSelection) ([]safeguard.Definition, error) {
	if cs.Status.Artifact == nil {
		return nil, nil
	}
	r, err := Read(cs)
	if err != nil {
		return nil, err
	}
	return r.Definitions, nil
}

// lean returns the record with less in it, not ok when nothing may go: digests of origins get shorter,
// then go. Without them a change of sources is not seen, but without any record every change is held.
func (r Record) lean() (Record, bool) {
	var shorter, without bool
	short, bare := slices.Clone(r.Definitions), slices.Clone(r.Definitions)
	for i, d := range r.Definitions {
		short[i].Origins, bare[i].Origins = d.Origins.Short(), nil
		shorter = shorter || !slices.Equal(short[i].Origins, d.Origins)
		without = without || d.Origins != nil
	}
	if shorter {
		r.Definitions = short
		return r, true
	}
	r.Definitions = bare
	return r, without
}

// Observed returns the sources of the publication as they were observed.
func (r *Record) Observed(cs *v1alpha1.CatalogSelection) ([]source.Observed, error) {
	n := len(cs.Status.Sources)
	if n == 0 || len(r.URLs) != n || len(r.Spec.Sources) != n {
		return nil, errors.New("the sources of that time are not known")
	}
	observed := make([]source.Observed, n)
	for i, s := range cs.Status.Sources {
		observed[i] = source.Observed{
			Kind: s.Kind, Name: types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, Path: r.Spec.Sources[i].Path,
			Format: r.Spec.Sources[i].Format, Artifact: meta.Artifact{Revision: s.Revision, Digest: s.Digest, URL: r.URLs[i]},
		}
		if len(r.Locations) == n {
			observed[i].Location = r.Locations[i]
		}
	}
	return observed, nil
}
