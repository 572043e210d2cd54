// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
)

// seeds adds the files of the cases and of the sample.
func seeds(f *testing.F) {
	cases, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range cases {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if strings.HasPrefix(file.Name, "catalog/") {
				f.Add(file.Data, uint64(len(f.Name())))
			}
		}
	}
	for _, name := range []string{"lemon/catalog.yaml", "plum/catalog.json"} {
		data, err := os.ReadFile(filepath.Join("testdata/orchard", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint64(0xaaaa))
	}
}

// Whatever a file has, loading it ends, the result can be written and read again, and can be pruned.
func FuzzLoad(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte, choice uint64) {
		loaded, err := Load(t.Context(), fstest.MapFS{"c.yaml": {Data: data}})
		var invalid *InvalidError
		if err != nil {
			if !errors.As(err, &invalid) || len(invalid.Violations) == 0 {
				t.Fatal(err)
			}
			return
		}
		if again := rewritten(t, loaded); describe(again) != describe(loaded) {
			t.Fatalf("written and read again:\n%s\nbefore:\n%s", describe(again), describe(loaded))
		}
		for _, one := range loaded.Packages {
			prunedAtRandom(t, loaded, one, choice)
			one.About()
			checkRecord(t, one)
		}
	})
}

// rewritten writes the blobs of a catalog and loads them.
func rewritten(t *testing.T, catalog *Catalog) *Catalog {
	t.Helper()
	blobs := slices.Clone(catalog.Others)
	for _, one := range catalog.Packages {
		blobs = append(blobs, one.Blobs...)
	}
	files := fstest.MapFS{}
	for _, file := range Files(blobs) {
		files[file.Name] = &fstest.MapFile{Data: file.Data}
	}
	again, err := Load(t.Context(), files)
	if err != nil {
		t.Fatalf("written and read again: %v", err)
	}
	for _, blob := range blobs {
		if len(files) == 1 && !bytes.Contains(slices.Collect(maps.Values(files))[0].Data, blob.Data) {
			t.Fatalf("the bytes of a blob changed: %q", blob.Data)
		}
	}
	return again
}

// describe returns what a catalog has, without where it is.
func describe(catalog *Catalog) string {
	var text strings.Builder
	for _, one := range catalog.Packages {
		text.WriteString(one.Name + " " + one.DefaultChannel + "\n")
		for _, channel := range one.Channels {
			text.WriteString(channel.Name + ":")
			for _, entry := range channel.Entries {
				text.WriteString(" " + strings.Join(append([]string{entry.Name, entry.Replaces, entry.SkipRange}, entry.Skips...), "|"))
			}
			text.WriteString("\n")
		}
		for _, bundle := range one.Bundles {
			text.WriteString(bundle.Name + " " + bundle.Version.String() + " " + bundle.Image + "\n")
		}
		text.WriteString(facts(one))
	}
	return text.String()
}

// prunedAtRandom keeps bundles by the bits of a number. Whatever is kept, the result is valid, and has no entry that
// was edited.
func prunedAtRandom(t *testing.T, catalog *Catalog, of *Package, choice uint64) {
	t.Helper()
	before := map[string]graph.Entry{}
	for _, channel := range of.Channels {
		for _, entry := range channel.Entries {
			before[channel.Name+" "+entry.Name] = entry
		}
	}
	for _, channel := range of.Channels {
		pruned, _, err := of.Prune(Keep{DefaultChannel: channel.Name, Bundle: byBits(of, choice)})
		var refused *PruneError
		if errors.As(err, &refused) {
			continue
		}
		if err != nil {
			t.Fatalf("pruned by %x: %v", choice, err)
		}
		for _, kept := range pruned.Channels {
			for _, entry := range kept.Entries {
				old := before[kept.Name+" "+entry.Name]
				if entry.Replaces != old.Replaces || entry.SkipRange != old.SkipRange || !slices.Equal(entry.Skips, old.Skips) {
					t.Fatalf("an entry was %+v, and is %+v", old, entry)
				}
			}
		}
		rewritten(t, &Catalog{Packages: []*Package{pruned}, Others: catalog.Others})
	}
}
