package controllers

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// publishedRecord is what status.writtenRecord holds: all that is needed to compare a new revision with the
// artifact, and to render the artifact once more. It outlives the data directory.
type publishedRecord struct {
	// Format of the record; see recordFormat. It stands here in formats 0 and 1, and beside what is
	// packed since.
	Format int32 `json:"format,omitempty"`
	// Spec that was rendered, without what does not matter to the artifact.
	Spec v1alpha1.CatalogSelectionSpec `json:"spec"`
	// URLs of the sources' artifacts, in the order of status.sources.
	URLs []string `json:"urls,omitempty"`
	// Carriers say where the catalogs of the sources were, in the same order; nil where the content
	// alone decided.
	Carriers []*catalogLocation `json:"carriers,omitempty"`
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
	// recordFormat is the one that is written: status.writtenRecord, with the format beside what is
	// packed. Formats 0 and 1 are in status.published.
	recordFormat = 2
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

// errNoRecord says that the status does not have the record of its artifact.
var errNoRecord = errors.New("status.writtenRecord is missing or cannot be read")

// newerRecordError says that the record is of a controller that is newer than this one. It is an
// errNoRecord: what it says in a way that is not known is not known.
type newerRecordError struct{ format int32 }

func (e *newerRecordError) Error() string {
	return fmt.Sprintf("status.writtenRecord has the format %d of a newer Winnow, and this one reads formats up to %d",
		e.format, recordFormat)
}

// Is is part of errors.Is.
func (e *newerRecordError) Is(target error) bool { return target == errNoRecord }

func newRecord(cs *v1alpha1.CatalogSelection, p *proposal) publishedRecord {
	r := publishedRecord{
		Spec: guard.RenderedSpec(cs), Definitions: p.result.Definitions,
		Sources: guard.Record(guardSources(p.loaded), p.result.Definitions),
	}
	for _, s := range p.observed {
		r.URLs = append(r.URLs, s.artifact.URL)
		r.Carriers = append(r.Carriers, s.catalogLocation)
	}
	if !slices.ContainsFunc(r.Carriers, func(c *catalogLocation) bool { return c != nil }) {
		r.Carriers = nil
	}
	r.PassedOver = passedOver(cs, p)
	r.Revisions = []string{p.result.Revision}
	for _, revision := range p.record.revisions(cs) {
		if revision != p.result.Revision && len(r.Revisions) < maxRevisions {
			r.Revisions = append(r.Revisions, revision)
		}
	}
	return r
}

// maxPassedOver bounds what a record knows to be passed over.
const maxPassedOver = 64

// passedOver returns the checksums of what was held and is not what is published now.
func passedOver(cs *v1alpha1.CatalogSelection, p *proposal) []string {
	var all []string
	if held := cs.Status.Held; held != nil && p.result.Revision != cluster.RevisionOf(cs) {
		for _, line := range held.Approve {
			sum, _, _ := strings.Cut(line, "#")
			all = append(all, sum)
		}
	}
	if p.record != nil {
		all = append(all, p.record.PassedOver...)
	}
	now := append(guard.Checksums(guardSources(p.loaded)), guard.Checksum(p.result.Revision))
	all = slices.DeleteFunc(all, func(sum string) bool { return slices.Contains(now, sum) })
	return slices.Clip(all[:min(len(all), maxPassedOver)])
}

// revisions returns what was published so far; there may be no record.
func (r *publishedRecord) revisions(cs *v1alpha1.CatalogSelection) []string {
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

// pack returns the record as the status holds it, nil when that is too large.
func (r publishedRecord) pack() (*v1alpha1.WrittenRecord, error) {
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
		return r.pack()
	}
	if packed.Len() > maxRecord {
		if lean, ok := r.lean(); ok {
			return lean.pack()
		}
		return nil, nil
	}
	return &v1alpha1.WrittenRecord{Format: recordFormat, Packed: packed.Bytes()}, nil
}

// readRecord reads the record of the artifact in the status. The error is an errNoRecord, whatever is
// wrong with it.
//
// A publication clears status.published. Where it is there all the same, an older controller has
// published since, and status.writtenRecord is not of the artifact; nor is any record whose last
// revision is another one.
func readRecord(cs *v1alpha1.CatalogSelection) (*publishedRecord, error) {
	var r *publishedRecord
	var err error
	switch written := cs.Status.WrittenRecord; {
	case len(cs.Status.Published) > 0:
		if r, err = unpack(cs.Status.Published); err == nil && r.Format > attributedFormat {
			err = &newerRecordError{r.Format}
		}
	case written == nil || written.Format < recordFormat:
		err = errNoRecord
	case written.Format > recordFormat:
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
		return nil, errNoRecord
	}
	return r, nil
}

// unpack reads what is packed in a record. The error is errNoRecord, whatever is wrong with it.
func unpack(packed []byte) (*publishedRecord, error) {
	decompressor, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, errNoRecord
	}
	content, err := io.ReadAll(io.LimitReader(decompressor, maxUnpackedRecord+1))
	if err != nil || len(content) > maxUnpackedRecord {
		return nil, errNoRecord
	}
	var r publishedRecord
	if err := json.Unmarshal(content, &r); err != nil || r.Definitions == nil {
		// An artifact without objects has an empty list.
		return nil, errNoRecord
	}
	return &r, nil
}

// recordOf returns the record of the last publication; nil where there is none that can be read.
func recordOf(cs *v1alpha1.CatalogSelection) *publishedRecord {
	record, err := readRecord(cs)
	if err != nil {
		return nil
	}
	return record
}

// published returns what a render is compared with; nothing of a record that is nil.
func (r *publishedRecord) published() guard.Published {
	if r == nil {
		return guard.Published{}
	}
	return guard.Published{Spec: &r.Spec, Definitions: r.Definitions, Sources: r.Sources, Older: r.Format < attributedFormat}
}

// RenderedAsItIs reports whether what is published of a selection was rendered from its present spec.
func RenderedAsItIs(cs *v1alpha1.CatalogSelection) bool {
	record := recordOf(cs)
	return record != nil && equality.Semantic.DeepEqual(record.Spec, guard.RenderedSpec(cs))
}

// PublishedDefinitions returns what the artifact of the selection holds; nil where that is not known.
func PublishedDefinitions(cs *v1alpha1.CatalogSelection) ([]safeguard.Definition, error) {
	if cs.Status.Artifact == nil {
		return nil, nil
	}
	r, err := readRecord(cs)
	if err != nil {
		return nil, err
	}
	return r.Definitions, nil
}
