// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

func TestReadChoosesTheRecord(t *testing.T) {
	packed := func(format int32, revisions ...string) Record {
		return Record{Format: format, Revisions: revisions, Definitions: definitionsOf("argocd")}
	}
	ours, err := packed(0, "r2", "r1").Pack()
	if err != nil {
		t.Fatal(err)
	}
	wrong := func(format int32) *v1alpha1.WrittenRecord {
		return &v1alpha1.WrittenRecord{Format: format, Packed: ours.Packed}
	}
	for _, test := range []struct {
		name     string
		status   v1alpha1.CatalogSelectionStatus
		artifact string
		format   int32
		newer    bool
	}{
		{name: "that of the artifact", status: v1alpha1.CatalogSelectionStatus{WrittenRecord: ours}, artifact: "r2", format: 2},
		{name: "without an artifact", status: v1alpha1.CatalogSelectionStatus{WrittenRecord: ours}, format: 2},
		{name: "of another artifact", status: v1alpha1.CatalogSelectionStatus{WrittenRecord: ours}, artifact: "r1", format: -1},
		{name: "none", artifact: "r2", format: -1},
		{name: "format 0", status: v1alpha1.CatalogSelectionStatus{WrittenRecord: wrong(0)}, artifact: "r2", format: -1},
		{name: "a negative format", status: v1alpha1.CatalogSelectionStatus{WrittenRecord: wrong(-3)}, artifact: "r2", format: -1},
		{name: "one with contents", status: v1alpha1.CatalogSelectionStatus{WrittenRecord: wrong(3)}, artifact: "r2", format: 3},
		{name: "a newer format", status: v1alpha1.CatalogSelectionStatus{WrittenRecord: wrong(4)}, artifact: "r2", format: -1, newer: true},
		{name: "an older one beside it", status: v1alpha1.CatalogSelectionStatus{WrittenRecord: ours, Published: older(t, packed(1, "r3"), 1)},
			artifact: "r3", format: 1},
		{name: "the oldest", status: v1alpha1.CatalogSelectionStatus{Published: older(t, packed(0), 0)}, artifact: "r9", format: 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := &v1alpha1.CatalogSelection{Status: test.status}
			if test.artifact != "" {
				cs.Status.Artifact = artifactAt(test.artifact)
			}
			r, err := Read(cs)
			var tooNew *newerRecordError
			switch {
			case test.format < 0:
				if !errors.Is(err, ErrNone) || errors.As(err, &tooNew) != test.newer {
					t.Errorf("Read() = %v, %v", r, err)
				}
			case err != nil || r.Format != test.format:
				t.Errorf("Read() = %v, %v", r, err)
			}
		})
	}
}

// A change of the fields needs the next number of the format, if an older controller would misread the record.
func TestTheFormatOfTheRecordIsPinned(t *testing.T) {
	content, err := json.Marshal(Record{
		Definitions: definitionsOf("argocd"), URLs: []string{"u"}, Locations: []*source.Location{{}}, Sources: []guard.RecordedSource{{}},
		PassedOver: []string{"p"}, Revisions: []string{"r"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(content, &fields); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{"carriers", "definitions", "passedOver", "revisions", "sources", "spec", "urls"}
	if !slices.Equal(names, want) || currentFormat != 2 {
		t.Errorf("format %d has the fields %q, want %q", currentFormat, names, want)
	}
}

// An older controller would watch and claim a content as a live object.
func TestARecordWithContentsHasAFormatOfItsOwn(t *testing.T) {
	for kind, want := range map[string]int32{"ApplicationDefinition": currentFormat, "olm.package": contentsFormat} {
		written, err := Record{Definitions: []safeguard.Definition{{Kind: kind, Name: "argocd"}}}.Pack()
		if err != nil || written.Format != want {
			t.Errorf("the record of an %s has the format %v: %v", kind, written, err)
		}
	}
}

func TestUnreadableRecords(t *testing.T) {
	good, err := Record{Definitions: []safeguard.Definition{{Name: "argocd"}}}.Pack()
	if err != nil {
		t.Fatal(err)
	}
	for name, packed := range hostileRecords(t, good.Packed) {
		t.Run(name, func(t *testing.T) {
			if r, err := unpack(packed); !errors.Is(err, ErrNone) {
				t.Errorf("unpack() = %v, %v", r, err)
			}
		})
	}
	if r, err := unpack(sourcetest.Gzip(t, []byte(`{"spec":{"sources":[]},"definitions":[]}`))); err != nil || len(r.Definitions) > 0 {
		t.Errorf("the record of an empty artifact: %v, %v", r, err)
	}
}

// hostileRecords maps names to contents that must not be read as a record.
func hostileRecords(t *testing.T, good []byte) map[string][]byte {
	t.Helper()
	half := make([]byte, len(good)/2)
	copy(half, good)
	spaces := bytes.Repeat([]byte{' '}, maxUnpackedRecord)
	return map[string][]byte{
		"none":                        nil,
		"garbage":                     []byte("garbage"),
		"a half of it":                half,
		"all but the last byte":       good[:len(good)-1],
		"with garbage after it":       append(bytes.Clone(good), "garbage"...),
		"twice":                       append(bytes.Clone(good), good...),
		"more than maxUnpackedRecord": sourcetest.Gzip(t, append(spaces, "{}"...)),
		"more than maxElements":       sourcetest.Gzip(t, []byte(`{"definitions":[{}`+strings.Repeat(",{}", maxElements/2)+"]}")),
		"gzip of nothing":             sourcetest.Gzip(t, nil),
		"gzip of garbage":             sourcetest.Gzip(t, []byte("garbage")),
		"gzip of a list":              sourcetest.Gzip(t, []byte("[]")),
		"gzip of null":                sourcetest.Gzip(t, []byte("null")),
		"gzip of an empty mapping":    sourcetest.Gzip(t, []byte("{}")),
		"definitions of null":         sourcetest.Gzip(t, []byte(`{"spec":{"sources":[{"name":"catalog"}]},"definitions":null}`)),
		"definitions of a string":     sourcetest.Gzip(t, []byte(`{"definitions":"argocd"}`)),
		"a definition of a number":    sourcetest.Gzip(t, []byte(`{"definitions":[1]}`)),
		"a spec of a string":          sourcetest.Gzip(t, []byte(`{"spec":"x","definitions":[]}`)),
	}
}

// Pack shortens the digests of origins of a record that is too large, then removes them: without any record
// every change is held.
func TestCostOfLargeRecords(t *testing.T) {
	for _, test := range []struct {
		definitions int
		want        safeguard.Origins
	}{{10_000, safeguard.Origins{"5feceb66", "ffc86f38"}}, {18_000, safeguard.Origins{"5fec", "ffc8"}}, {30_000, nil}} {
		t.Run(fmt.Sprint(test.definitions), func(t *testing.T) {
			var r Record
			for i := range test.definitions {
				sum := sourcetest.Digest(fmt.Append(nil, i))
				r.Definitions = append(r.Definitions, safeguard.Definition{
					Kind: "x", Name: fmt.Sprint("a", i), Versions: []string{"1", "2"}, Origins: []string{sum[7:15], sum[15:23]},
				})
			}
			packed, err := r.Pack()
			if err != nil {
				t.Fatal(err)
			}
			read, err := unpack(packed.Packed)
			if err != nil || len(read.Definitions) != test.definitions {
				t.Fatalf("the record has %d bytes: %v", len(packed.Packed), err)
			}
			if got := read.Definitions[0].Origins; !slices.Equal(got, test.want) {
				t.Errorf("the origins of a record of %d bytes are %q, want %q", len(packed.Packed), got, test.want)
			}
			if got := r.Definitions[0].Origins; len(got[0]) != 8 {
				t.Errorf("packing changed the record: %q", got)
			}
		})
	}
}

// Of too many locked values, only the digest of all values is left, with which another value is held.
func TestCostOfLockedValuesInALargeRecord(t *testing.T) {
	for paths, want := range map[int]int{20: 21, 128: 1} {
		var r Record
		for i := range 256 {
			locked := map[string]string{"": "all"}
			for path := range paths {
				locked[fmt.Sprint("network.value", path)] = sourcetest.Digest(fmt.Append(nil, i, path))[7:23]
			}
			r.Definitions = append(r.Definitions, safeguard.Definition{Kind: "HelmRelease", Name: fmt.Sprint("a", i), Instance: fmt.Sprint("a", i), Locked: locked})
		}
		packed, err := r.Pack()
		if err != nil || packed == nil {
			t.Fatalf("%d paths are not packed: %v", paths, err)
		}
		read, err := unpack(packed.Packed)
		if err != nil || len(read.Definitions[0].Locked) != want || read.Definitions[0].Locked[""] != "all" || len(r.Definitions[0].Locked) != paths+1 {
			t.Errorf("of %d paths, %d digests are read: %v", paths, len(read.Definitions[0].Locked), err)
		}
	}
}

// A record that would not be read is not written.
func TestARecordOfTooManyElementsIsNotWritten(t *testing.T) {
	for definitions, want := range map[int]bool{30_000: true, 40_000: false} {
		r := Record{Definitions: slices.Repeat([]safeguard.Definition{{Name: "argocd", Versions: []string{"1", "2"}, Identity: map[string]string{"a": "b"}}}, definitions)}
		packed, err := r.Pack()
		if err != nil || (packed != nil) != want {
			t.Fatalf("the record of %d definitions is written: %v, %v", definitions, packed != nil, err)
		}
		if packed == nil {
			continue
		}
		if _, err := unpack(packed.Packed); err != nil {
			t.Errorf("the record of %d definitions is not read: %v", definitions, err)
		}
	}
}

// Pack removes the annotations of definitions from a record that is too large, before it removes the sources.
func TestCostOfAnnotationsInALargeRecord(t *testing.T) {
	for _, test := range []struct {
		applications, annotation int
		annotated, recorded      bool
	}{{1000, 1, true, true}, {5000, 8, false, true}, {30_000, 8, false, false}} {
		t.Run(fmt.Sprint(test.applications), func(t *testing.T) {
			r := Record{Definitions: definitionsOf("argocd"), Sources: []guard.RecordedSource{{Name: "catalog"}}}
			for i := range test.applications {
				noise := sourcetest.Digest(fmt.Append(nil, i))
				r.Sources[0].Applications = append(r.Sources[0].Applications, guard.RecordedApplication{
					Name: noise[7:23], ObjectAnnotations: map[string]string{"a": strings.Repeat(noise[:16], test.annotation) + noise},
				})
			}
			packed, err := r.Pack()
			if err != nil {
				t.Fatal(err)
			}
			read, err := unpack(packed.Packed)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(read.Sources) > 0; got != test.recorded {
				t.Fatalf("the sources are recorded: %v, in %d bytes", got, len(packed.Packed))
			}
			if got := test.recorded && len(read.Sources[0].Applications[0].ObjectAnnotations) > 0; got != test.annotated {
				t.Errorf("the annotations are recorded: %v, in %d bytes", got, len(packed.Packed))
			}
			if len(r.Sources[0].Applications[0].ObjectAnnotations) == 0 {
				t.Error("packing changed the record")
			}
		})
	}
}

// older packs a record in the form of status.published.
func older(t *testing.T, r Record, format int32) []byte {
	t.Helper()
	if r.Format = format; format == 0 {
		r.Sources, r.Revisions = nil, nil
	}
	content, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return sourcetest.Gzip(t, content)
}

func definitionsOf(names ...string) []safeguard.Definition {
	var definitions []safeguard.Definition
	for _, name := range names {
		definitions = append(definitions, safeguard.Definition{Kind: "ApplicationDefinition", Name: name})
	}
	return definitions
}

func artifactAt(revision string) *meta.Artifact { return &meta.Artifact{Revision: revision} }
