// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// checkRecord compares a package with that of its record, which went through JSON.
func checkRecord(t *testing.T, one *Package) {
	t.Helper()
	data, err := json.Marshal(one.Record())
	if err != nil {
		t.Fatal(err)
	}
	var record Record
	if err := json.Unmarshal(data, &record); err != nil {
		t.Fatal(err)
	}
	again, err := record.Package()
	if err != nil {
		t.Fatalf("there is no package of the record %s: %v", data, err)
	}
	if !reflect.DeepEqual(again.Record(), one.Record()) {
		t.Errorf("the record of the record is another one: %s", data)
	}
	for i, channel := range one.Channels {
		was, is := channel.Successions(), again.Channels[i].Successions()
		for j, bundle := range one.Bundles {
			if recorded := again.Bundles[j]; was.Has(bundle.Name, bundle.Version) != is.Has(recorded.Name, recorded.Version) {
				t.Errorf("the channel %s of the record has another succession for %s", channel.Name, bundle.Name)
			}
		}
	}
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

func TestARecordHasWhatIsCompared(t *testing.T) {
	for name, catalog := range catalogs(t) {
		for _, one := range catalog.Packages {
			t.Run(name+"/"+one.Name, func(t *testing.T) { checkRecord(t, one) })
		}
	}
	none := Record{Channels: []RecordChannel{{Name: "c"}}, Bundles: []RecordBundle{{Name: "p.v1", Version: "1"}}}
	if got, err := none.Package(); err == nil {
		t.Errorf("a version that is none: got %v", got)
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
