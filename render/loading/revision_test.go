// SPDX-License-Identifier: Apache-2.0

package loading_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/loading"
	"github.com/winnow-dev/winnow/render/tree"
)

// revisions makes catalogs, each from the files of the one before.
type revisions struct {
	*rand.Rand
	files map[string]string
}

func newRevisions(seed uint64, applications int) *revisions {
	r := &revisions{rand.New(rand.NewPCG(seed, seed)), map[string]string{}}
	for i := range applications {
		r.files[fmt.Sprintf("applications/a%d/application.yaml", i)] = definitionOf(fmt.Sprintf("a%d", i), "one")
		r.files[fmt.Sprintf("applications/a%d/metadata.yaml", i)] = "tier: gold\nlabels: {x: z}\n"
	}
	return r
}

func definitionOf(name, description string) string {
	return "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: " + name +
		"\n  labels: &l {a: b}\n  annotations: *l\nspec:\n  description: " + description + "\n  logo: " + strings.Repeat("iVBO", 200) +
		"\n  versions:\n  - version: 1.0.0\n"
}

// next changes up to three files, for better or worse.
func (r *revisions) next() {
	for range r.IntN(4) {
		directory := fmt.Sprintf("applications/a%d/", r.IntN(8))
		name := fmt.Sprintf("a%d", r.IntN(10))
		switch file := directory + "application.yaml"; r.IntN(8) {
		case 0:
			r.files[file] = definitionOf(name, "two")
		case 1:
			r.files[file] = definitionOf(name, "[")
		case 2:
			r.files[file] = strings.Replace(definitionOf(name, "one"), "1.0.0", "1", 1)
		case 3:
			delete(r.files, file)
		case 4:
			r.files[directory+"metadata.yaml"] = fmt.Sprintf("tier: t%d\n", r.IntN(3))
		case 5:
			r.files[directory+"metadata.yaml"] = "tier: [1]\n"
		case 6:
			delete(r.files, directory+"metadata.yaml")
		default:
			r.files["catalogs/all/metadata.yaml"] = "applications: [" + name + "]\n"
		}
	}
}

// joined returns the definitions as documents of one file, for the format Definitions.
func (r *revisions) joined() map[string]string {
	var all strings.Builder
	for i := range 8 {
		all.WriteString("---\n" + r.files[fmt.Sprintf("applications/a%d/application.yaml", i)])
	}
	return map[string]string{"all.yaml": all.String(), "other/more.yaml": definitionOf("other", "one")}
}

func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	content := tree.New()
	for path, text := range files {
		if err := content.Add(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := archive.Write(&out, content); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func loadRevision(files []byte, before *catalog.Catalog) (*catalog.Catalog, error) {
	return loading.Revision(context.Background(), "s", bytes.NewReader(files), loading.CatalogLocation{}, before)
}

// compareCatalogs fails if two results of loading differ in anything but what was parsed.
func compareCatalogs(t *testing.T, got, want *catalog.Catalog, gotErr, wantErr error) {
	t.Helper()
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Fatalf("the error is %v, want %v", gotErr, wantErr)
	}
	if wantErr != nil {
		return
	}
	if !reflect.DeepEqual(got.Applications, want.Applications) || !reflect.DeepEqual(got.Lists, want.Lists) ||
		got.Digest != want.Digest || got.Size() != want.Size() {
		t.Fatalf("the catalog is %+v, want %+v", got, want)
	}
}

// Of the same bytes, loading returns the same catalog or error, whether a revision before is known, a wrong one or none, and
// whether files were parsed while the archive was read.
func TestWhatIsKnownChangesNothing(t *testing.T) {
	for _, format := range []struct {
		name  string
		files func(*revisions) map[string]string
	}{
		{"Applications", func(r *revisions) map[string]string { return r.files }},
		{"Definitions", (*revisions).joined},
	} {
		t.Run(format.name, func(t *testing.T) {
			var before *catalog.Catalog
			valid := 0
			for seed := range uint64(20) {
				r := newRevisions(seed, 8)
				for range 5 {
					files := packed(t, format.files(r))
					unpacked, err := archive.Read(t.Context(), bytes.NewReader(files), archive.Limits{})
					if err != nil {
						t.Fatal(err)
					}
					want, wantErr := loading.FS(t.Context(), "s", unpacked.FS(), loading.CatalogLocation{})
					got, err := loadRevision(files, nil)
					compareCatalogs(t, got, want, err, wantErr)
					got, err = loadRevision(files, before)
					compareCatalogs(t, got, want, err, wantErr)
					if err == nil {
						valid++
						before = got
					}
					r.next()
				}
			}
			if valid < 20 || valid == 100 {
				t.Errorf("%d of 100 catalogs are valid: the test needs both kinds", valid)
			}
		})
	}
}

// The guard of the time of a new revision: a file with known bytes is not parsed.
func TestOnlyChangedFilesAreParsed(t *testing.T) {
	r := newRevisions(1, 100)
	before, err := loadRevision(packed(t, r.files), nil)
	if err != nil || before.Parsed() != 200 {
		t.Fatalf("a new catalog: %d documents are parsed, want 200: %v", before.Parsed(), err)
	}
	for _, test := range []struct {
		name   string
		change func()
		want   int64
	}{
		{"nothing", func() {}, 0},
		{"a definition", func() { r.files["applications/a7/application.yaml"] = definitionOf("a7", "two") }, 1},
		{"a metadata.yaml", func() { r.files["applications/a8/metadata.yaml"] = "tier: bronze\n" }, 1},
		{"a new application", func() { r.files["applications/b/application.yaml"] = definitionOf("b", "one") }, 1},
		{"an application that is gone", func() { delete(r.files, "applications/b/application.yaml") }, 0},
	} {
		test.change()
		next, err := loadRevision(packed(t, r.files), before)
		if err != nil || next.Parsed() != test.want {
			t.Errorf("%s: %d documents are parsed, want %d: %v", test.name, next.Parsed(), test.want, err)
			continue
		}
		before = next
	}
}
