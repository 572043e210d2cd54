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
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

func TestReadChoosesTheRecord(t *testing.T) {
	ours, err := Record{Revisions: []string{"r2", "r1"}, Definitions: definitionsOf("argocd")}.Pack()
	if err != nil {
		t.Fatal(err)
	}
	ofNothing, err := Record{Definitions: definitionsOf("argocd")}.Pack()
	if err != nil {
		t.Fatal(err)
	}
	of := func(number int32) *v1alpha1.WrittenRecord {
		return &v1alpha1.WrittenRecord{Format: number, Packed: ours.Packed}
	}
	for _, test := range []struct {
		name        string
		written     *v1alpha1.WrittenRecord
		artifact    string
		read, newer bool
	}{
		{name: "that of the artifact", written: ours, artifact: "r2", read: true},
		{name: "without an artifact", written: ours, read: true},
		{name: "of another artifact", written: ours, artifact: "r1"},
		{name: "without revisions", written: ofNothing},
		{name: "none", artifact: "r2"},
		{name: "a negative format", written: of(-3), artifact: "r2"},
		{name: "an older format", written: of(CurrentFormat - 1), artifact: "r2"},
		{name: "a newer format", written: of(ContentsFormat + 1), artifact: "r2", newer: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := &v1alpha1.CatalogSelection{Status: v1alpha1.CatalogSelectionStatus{WrittenRecord: test.written}}
			if test.artifact != "" {
				cs.Status.Artifact = &meta.Artifact{Revision: test.artifact}
			}
			r, err := Read(cs)
			var tooNew *newerRecordError
			if (err == nil) != test.read || err != nil && !errors.Is(err, ErrNone) || errors.As(err, &tooNew) != test.newer {
				t.Errorf("Read() = %v, %v", r, err)
			}
		})
	}
}

// A change of the fields needs the next number of the format, if an older controller would misread the record.
func TestTheFormatOfTheRecordIsPinned(t *testing.T) {
	content, err := json.Marshal(Record{
		Definitions: definitionsOf("argocd"), URLs: []string{"u"}, Locations: []*source.Location{{}}, Revisions: []string{"r"},
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
	want := []string{"carriers", "definitions", "revisions", "spec", "urls"}
	if !slices.Equal(names, want) || CurrentFormat != 2 {
		t.Errorf("format %d has the fields %q, want %q", CurrentFormat, names, want)
	}
}

// An older controller would watch and claim a content as a live object.
func TestARecordWithContentsHasAFormatOfItsOwn(t *testing.T) {
	for kind, want := range map[string]int32{"ApplicationDefinition": CurrentFormat, "olm.package": ContentsFormat} {
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

func definitionsOf(names ...string) []safeguard.Definition {
	var definitions []safeguard.Definition
	for _, name := range names {
		definitions = append(definitions, safeguard.Definition{Kind: "ApplicationDefinition", Name: name})
	}
	return definitions
}
