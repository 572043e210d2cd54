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
		if again.Blobs != nil || again.Channels[0].Blob != nil || again.Bundles[0].Blob != nil {
			t.Fatal("a package of a record has documents")
		}
	}
}

func describeOne(one *Package) string { return describe(&Catalog{Packages: []*Package{one}}) }

// keepsOf returns what may be kept of a package: for each channel as the default one, bundles by the bits of numbers.
func keepsOf(one *Package) (keeps []Keep) {
	order := map[string]int{}
	for i, bundle := range one.Bundles {
		order[bundle.Name] = i
	}
	for _, channel := range one.Channels {
		for _, bits := range []uint64{0, 1, 2, 4, 0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0, 1<<32 - 1, ^uint64(1), ^uint64(0)} {
			keeps = append(keeps, Keep{DefaultChannel: channel.Name, Strict: bits == 4, Bundle: func(in string, bundle *Bundle) bool {
				return bits>>(uint(len(in)+order[bundle.Name])%64)&1 == 1
			}})
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
