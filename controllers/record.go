package controllers

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// publishedRecord is what status.published holds: all that is needed to compare a new revision with the
// artifact, and to render the artifact once more. It outlives the data directory.
type publishedRecord struct {
	// Spec that was rendered, without what does not matter to the artifact.
	Spec v1alpha1.CatalogSelectionSpec `json:"spec"`
	// URLs of the sources' artifacts, in the order of status.sources.
	URLs []string `json:"urls,omitempty"`
	// Carriers say where the catalogs of the sources were, in the same order; nil where the content
	// alone decided.
	Carriers []*carrier `json:"carriers,omitempty"`
	// Definitions in the artifact.
	Definitions []safeguard.Definition `json:"definitions"`
}

// Bounds of a record in bytes: as it is stored, before base64 makes it a third longer (the CRD
// has a maxLength of 256 KiB), and as it is unpacked, because the status may be anybody's.
const (
	maxRecord         = 192 << 10
	maxUnpackedRecord = 64 << 20
)

// errNoRecord says that the status does not have the record of its artifact.
var errNoRecord = errors.New("status.published is missing or cannot be read")

func newRecord(cs *v1alpha1.CatalogSelection, sources []observedSource, result *render.Result) publishedRecord {
	r := publishedRecord{Spec: renderedSpec(cs), Definitions: result.Definitions}
	for _, s := range sources {
		r.URLs = append(r.URLs, s.artifact.URL)
		r.Carriers = append(r.Carriers, s.carrier)
	}
	if !slices.ContainsFunc(r.Carriers, func(c *carrier) bool { return c != nil }) {
		r.Carriers = nil
	}
	return r
}

func renderedSpec(cs *v1alpha1.CatalogSelection) v1alpha1.CatalogSelectionSpec {
	return guard.RenderedSpec(cs)
}

// pack returns the record as the status holds it, nil when that is too large.
func (r publishedRecord) pack() ([]byte, error) {
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
	if packed.Len() > maxRecord {
		if lean, ok := r.lean(); ok {
			return lean.pack()
		}
		return nil, nil
	}
	return packed.Bytes(), nil
}

// unpack reads the record of the status. The error is errNoRecord, whatever is wrong with it.
func unpack(published []byte) (*publishedRecord, error) {
	decompressor, err := gzip.NewReader(bytes.NewReader(published))
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

// definitionsOf returns what the artifact of the selection holds; nothing before the first one.
func definitionsOf(cs *v1alpha1.CatalogSelection) ([]safeguard.Definition, error) {
	if cs.Status.Artifact == nil {
		return nil, nil
	}
	r, err := unpack(cs.Status.Published)
	if err != nil {
		return nil, err
	}
	return r.Definitions, nil
}
