// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"bytes"
	"io"
	"testing"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
)

// allocations of loading and rendering a catalog, for each application.
type allocations struct{ cold, revision, warm float64 }

func layerOf(t *testing.T, of Applications) []byte {
	t.Helper()
	var packed bytes.Buffer
	if err := of.Write(&packed); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func mustLoad(t *testing.T, layer io.Reader, before *catalog.Catalog) *catalog.Catalog {
	t.Helper()
	loaded, err := render.LoadRevision(t.Context(), "applications", layer, render.CatalogLocation{}, before)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func allocationsOf(t *testing.T, count int) allocations {
	t.Helper()
	former, present := layerOf(t, Applications{Count: count}), layerOf(t, Applications{Count: count, Revision: 1})
	before := mustLoad(t, bytes.NewReader(former), nil)
	each := func(do func()) float64 { return testing.AllocsPerRun(1, do) / float64(count) }
	return allocations{
		cold:     each(func() { mustLoad(t, bytes.NewReader(present), nil) }),
		revision: each(func() { mustLoad(t, bytes.NewReader(present), before) }),
		warm: each(func() {
			if _, err := renderAll(before, "own", 0); err != nil {
				t.Error(err)
			}
		}),
	}
}

// What a render costs is guarded without timings: by the memory that is allocated, which is the same on each machine, and
// does not grow faster than the catalog.
func TestCostOfAnApplication(t *testing.T) {
	few, many := allocationsOf(t, 50), allocationsOf(t, 200)
	t.Logf("for an application: %+v of 50, %+v of 200", few, many)
	for _, test := range []struct {
		name            string
		few, many, most float64
	}{
		{"a new catalog", few.cold, many.cold, 950},
		{"a new revision", few.revision, many.revision, 65},
		{"another selection", few.warm, many.warm, 30},
	} {
		if test.many > test.most || test.many > 1.3*test.few {
			t.Errorf("%s: %.0f allocations for an application, of 50 %.0f; want at most %.0f", test.name, test.many, test.few, test.most)
		}
	}
}

// countingReader counts what is read.
type countingReader struct {
	io.Reader
	read int
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.read += n
	return n, err
}

func TestALayerIsReadOnceAndOnlyWhatIsNewIsParsed(t *testing.T) {
	var before *catalog.Catalog
	for revision, parsed := range []int64{400, 2} {
		layer := layerOf(t, Applications{Count: 200, Revision: revision})
		counting := &countingReader{Reader: bytes.NewReader(layer)}
		before = mustLoad(t, counting, before)
		if counting.read != len(layer) || before.Parsed() != parsed {
			t.Errorf("revision %d: %d of %d bytes are read, %d documents parsed, want %d", revision, counting.read, len(layer), before.Parsed(), parsed)
		}
	}
}
