// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// restored returns the package of the record of a package, which went through JSON.
func restored(t *testing.T, one *Package) *Package {
	t.Helper()
	data, err := json.Marshal(one.Record())
	if err != nil {
		t.Fatal(err)
	}
	var record Record
	if err := json.Unmarshal(data, &record); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(record, one.Record()) {
		t.Errorf("JSON changes the record: %s", data)
	}
	again := record.Package()
	if again == nil {
		t.Fatalf("there is no package of the record %s", data)
	}
	return again
}

// checkRecord prunes a package and that of its record alike.
func checkRecord(t *testing.T, one *Package, keeps []Keep) {
	t.Helper()
	recorded := restored(t, one)
	if got, want := describeOne(recorded), describeOne(one); got != want {
		t.Errorf("recorded:\n%swant:\n%s", got, want)
	}
	for i, keep := range keeps {
		pruned, decisions, err := one.Prune(keep)
		again, same, otherErr := recorded.Prune(keep)
		if fmt.Sprint(decisions, err) != fmt.Sprint(same, otherErr) {
			t.Fatalf("keep %d: %v, %v; of a record: %v, %v", i, decisions, err, same, otherErr)
		}
		if err != nil {
			continue
		}
		if got, want := describeOne(again), describeOne(pruned); got != want {
			t.Fatalf("keep %d of a record:\n%swant:\n%s", i, got, want)
		}
		if again.Bundles[0].Image != "" {
			t.Fatal("a package of a record has images")
		}
		if again.Blobs != nil || again.Channels[0].Blob != nil || again.Bundles[0].Blob != nil {
			t.Fatal("a package of a record has documents")
		}
	}
}

// describeOne describes a package without images, which a record lacks.
func describeOne(one *Package) string {
	same := *one
	same.Bundles = nil
	for _, bundle := range one.Bundles {
		bare := *bundle
		bare.Image = ""
		same.Bundles = append(same.Bundles, &bare)
	}
	return describe(&Catalog{Packages: []*Package{&same}})
}

// byBits keeps bundles by the bits of a number.
func byBits(one *Package, bits uint64) func(string, *Bundle) bool {
	order := map[string]int{}
	for i, bundle := range one.Bundles {
		order[bundle.Name] = i
	}
	return func(in string, bundle *Bundle) bool { return bits>>(uint(len(in)+order[bundle.Name])%64)&1 == 1 }
}

// keepsOf returns what may be kept of a package: for each channel as the default one, bundles by the bits of numbers.
func keepsOf(one *Package) (keeps []Keep) {
	for _, channel := range one.Channels {
		for _, bits := range []uint64{0, 1, 2, 4, 0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0, 1<<32 - 1, ^uint64(1), ^uint64(0)} {
			keeps = append(keeps, Keep{DefaultChannel: channel.Name, Strict: bits == 4, Bundle: byBits(one, bits)})
		}
	}
	return keeps
}

func TestARecordIsPrunedAsItsPackage(t *testing.T) {
	for name, catalog := range catalogs(t) {
		for _, one := range catalog.Packages {
			t.Run(name+"/"+one.Name, func(t *testing.T) { checkRecord(t, one, keepsOf(one)) })
		}
	}
}

// catalogs returns the sample, and the real ones where they are.
func catalogs(t *testing.T) map[string]*Catalog {
	t.Helper()
	data := os.Getenv("WINNOW_TEST_DATA")
	if data == "" {
		data = "../../../../shared/data"
	}
	dirs, err := filepath.Glob(filepath.Join(data, "olm/fbc*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Logf("only the catalog of this repository: no real ones in %s; set WINNOW_TEST_DATA", data)
	}
	found := map[string]*Catalog{}
	for _, dir := range append(dirs, "testdata/orchard") {
		loaded, err := Load(t.Context(), os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Base(dir)] = loaded
	}
	return found
}

func TestARecordThatIsNotValidHasNoPackage(t *testing.T) {
	valid := named(t, graphs(t, "a: 1.0.0 1.1.0>1.0.0", "b: 1.1.0"), "p").Record()
	valid.APIs, valid.Bundles[0].Provides = []GVK{{Version: "v1", Kind: "A"}}, []int{0}
	for _, test := range []struct {
		name string
		edit func(*Record)
		want bool
	}{
		{"nothing is changed", func(*Record) {}, true},
		{"there is nothing", func(r *Record) { *r = Record{} }, false},
		{"another default channel", func(r *Record) { r.Default = "c" }, false},
		{"a channel twice", func(r *Record) { r.Channels = append(r.Channels, r.Channels[0]) }, false},
		{"a channel without entries", func(r *Record) { r.Channels[1].Entries = nil }, false},
		{"an entry without a bundle", func(r *Record) { r.Channels[1].Entries[0].Name = "x" }, false},
		{"two heads", func(r *Record) { r.Channels[0].Entries[1].Replaces = "" }, false},
		{"a skipRange that is none", func(r *Record) { r.Channels[0].Entries[1].SkipRange = "x" }, false},
		{"a bundle that is missing", func(r *Record) { r.Bundles = r.Bundles[1:] }, false},
		{"a version that is none", func(r *Record) { r.Bundles[0].Version = "1" }, false},
		{"a release that is none", func(r *Record) { r.Bundles[0].Release = "01" }, false},
		{"an API above the last one", func(r *Record) { r.Bundles[0].Provides = []int{1} }, false},
		{"an API below the first one", func(r *Record) { r.Bundles[0].Provides = []int{-1} }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			data, err := json.Marshal(valid)
			if err != nil {
				t.Fatal(err)
			}
			var record Record
			if err := json.Unmarshal(data, &record); err != nil {
				t.Fatal(err)
			}
			test.edit(&record)
			if got := record.Package(); (got != nil) != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestRecordIsCompact(t *testing.T) {
	loaded, err := Load(t.Context(), os.DirFS("testdata/orchard"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(named(t, loaded, "lemon").Record(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/record.json"
	if *update {
		if err := os.WriteFile(golden, append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(data)+"\n" != string(want) {
		t.Errorf("%v, got:\n%s", err, data)
	}
}
