// SPDX-License-Identifier: Apache-2.0

package loading_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/loading"
	"github.com/winnow-dev/winnow/render/tree"
)

// pack returns an archive of files, given as path and content.
func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	content := tree.New()
	for path, text := range files {
		if err := content.Add(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	var packed bytes.Buffer
	if err := archive.Write(&packed, content); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// peak calls do and returns by how much the memory in use grew meanwhile, as often as it can be seen.
func peak(do func()) int64 {
	var stats runtime.MemStats
	heap := func() int64 {
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := heap()
	most, done := before, make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	for {
		select {
		case <-done:
			return most - before
		default:
			most = max(most, heap())
		}
	}
}

// TestCostOfLoading holds the measure, by which loads share memory, to be true.
func TestCostOfLoading(t *testing.T) {
	const head = "apiVersion: a.b/v1\nkind: ApplicationDefinition\nmetadata: {name: x%d}\nspec: {}\n"
	for _, test := range []struct {
		name           string
		files          int
		more, metadata string
		others         map[string]string
	}{
		{"one small application", 1, "", "", nil},
		{"many small applications", 2000, "", "tier: gold\nlabels: {a: b}\n", nil},
		{"documents of many nodes", 8, "a:\n" + strings.Repeat("- - - - - - - - - -\n", 50_000), "", nil},
		{"documents of a long text", 20, "a: " + strings.Repeat("x", 1_000_000), "", nil},
		{"metadata of many nodes", 100, "", "a: [" + strings.Repeat("{k: 1},", 2000) + "]\n", nil},
		{"files that no catalog needs", 1, "", "", map[string]string{"a.png": strings.Repeat("x", 8<<20), "b.png": strings.Repeat("x", 8<<20)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{}
			for path, content := range test.others {
				files[path] = content
			}
			for i := range test.files {
				files[fmt.Sprintf("applications/%d/application.yaml", i)] = fmt.Sprintf(head, i) + test.more
				if test.metadata != "" {
					files[fmt.Sprintf("applications/%d/metadata.yaml", i)] = test.metadata
				}
			}
			packed := pack(t, files)
			measured, err := loading.Measure(t.Context(), "catalog", bytes.NewReader(packed), loading.CatalogLocation{})
			if err != nil {
				t.Fatal(err)
			}
			took := peak(func() {
				_, err = loading.Archive(t.Context(), "catalog", bytes.NewReader(packed), loading.CatalogLocation{})
			})
			const slack = 64 << 20 // what becomes garbage while the memory is looked at counts as well
			if err != nil || took > measured+slack {
				t.Errorf("LoadArchive() = %v with %d bytes of memory, measured %d", err, took, measured)
			}
		})
	}
}

// A small file can have many documents, each of which takes many times its bytes.
func TestCostOfLoadingDefinitions(t *testing.T) {
	var valid strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&valid, "---\napiVersion: a.b/v1\nkind: ApplicationDefinition\nmetadata: {name: x%d}\nspec: {}\n", i)
	}
	for name, content := range map[string]string{
		"as many as there may be": valid.String(),
		"many more":               "kind: ApplicationDefinition\n---\n" + strings.Repeat("a\n---\n", 1_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			packed := pack(t, map[string]string{"a.yaml": content})
			measured, err := loading.Measure(t.Context(), "catalog", bytes.NewReader(packed), loading.CatalogLocation{})
			if err != nil {
				t.Fatal(err)
			}
			took := peak(func() {
				_, err = loading.Archive(t.Context(), "catalog", bytes.NewReader(packed), loading.CatalogLocation{})
			})
			if took > measured || (err == nil) != (content == valid.String()) {
				t.Errorf("LoadArchive() = %v with %d bytes of memory, measured %d", err, took, measured)
			}
		})
	}
}

const definitionText = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: %s}\nspec: {method: helm}\n"

// vendorTree is a directory in which other files are beside the definitions.
func vendorTree() fstest.MapFS {
	file := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: fmt.Appendf(nil, definitionText, name)}
	}
	return fstest.MapFS{
		"packages/a-rd/cozyrds/a.yaml": file("a"), "packages/b-rd/cozyrds/b.yaml": file("b"),
		"packages/a-rd/Chart.yaml": {Data: []byte("name: a\n")}, "packages/a-rd/templates/x.yaml": {Data: []byte("{{ .x }}\n")},
	}
}

func TestPlaces(t *testing.T) {
	for name, test := range map[string]struct {
		place loading.CatalogLocation
		want  []string // names, or the error
	}{
		"all files":       {loading.CatalogLocation{}, []string{`name those that have one by include: "**/cozyrds/*.yaml"`}},
		"included":        {loading.CatalogLocation{Include: []string{"**/cozyrds/*.yaml"}}, []string{"a", "b"}},
		"below a path":    {loading.CatalogLocation{Path: "packages", Format: "Definitions", Include: []string{"*/cozyrds/*.yaml"}}, []string{"a", "b"}},
		"one of several":  {loading.CatalogLocation{Include: []string{"none", "packages/[b]-rd/**"}}, []string{"b"}},
		"nothing":         {loading.CatalogLocation{Include: []string{"cozyrds/*.yaml"}}, []string{`include: no file has a path as in ["cozyrds/*.yaml"]`}},
		"another format":  {loading.CatalogLocation{Format: "Applications", Include: []string{"**/cozyrds/*"}}, []string{"holds no application"}},
		"no format":       {loading.CatalogLocation{Format: "Helm"}, []string{`no format "Helm": want Auto, Applications, Definitions`}},
		"no pattern":      {loading.CatalogLocation{Include: []string{"a["}}, []string{`include: "a[" is not a pattern`}},
		"alternatives":    {loading.CatalogLocation{Include: []string{"{a,b}"}}, []string{`include: "{a,b}" is not a pattern`}},
		"outside":         {loading.CatalogLocation{Path: "../a"}, []string{"is not a clean relative path"}},
		"a missing place": {loading.CatalogLocation{Path: "a"}, []string{`the artifact has no directory "a"`}},
	} {
		t.Run(name, func(t *testing.T) {
			var packed bytes.Buffer
			if err := archive.Write(&packed, directoryOf(t, vendorTree())); err != nil {
				t.Fatal(err)
			}
			fromArchive, archiveErr := loading.Archive(t.Context(), "vendor", &packed, test.place)
			loaded, err := loading.FS(t.Context(), "vendor", vendorTree(), test.place)
			if !reflect.DeepEqual(fromArchive, loaded) || fmt.Sprint(archiveErr) != fmt.Sprint(err) {
				t.Errorf("the archive is %v, %v, and the directory %v, %v", fromArchive, archiveErr, loaded, err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), test.want[0]) || reasonOf(err) == "" {
					t.Errorf("LoadFS() = %v, want %s", err, test.want)
				}
				return
			}
			var names []string
			for _, a := range loaded.Applications {
				names = append(names, a.Name)
			}
			if !slices.Equal(names, test.want) {
				t.Errorf("the applications are %v, want %v", names, test.want)
			}
		})
	}
}

// The digest is that of the catalog's files, with those that the format does not need as empty ones, so that it
// is the same whether the format is named or detected.
func TestTheDigestOfAPlace(t *testing.T) {
	digest := func(fsys fs.FS, place loading.CatalogLocation) string {
		t.Helper()
		loaded, err := loading.FS(t.Context(), "vendor", fsys, place)
		if err != nil {
			t.Fatal(err)
		}
		return loaded.Digest
	}
	applications := fstest.MapFS{
		"applications/a/application.yaml": {Data: fmt.Appendf(nil, definitionText, "a")}, "applications/a/values.yaml": {Data: []byte("a: b\n")},
	}
	named := digest(applications, loading.CatalogLocation{Format: "Applications"})
	if detected := digest(applications, loading.CatalogLocation{}); detected != named {
		t.Errorf("the digest is %s, and %s for the detected format", named, detected)
	}
	if other := digest(applications, loading.CatalogLocation{Format: "Definitions", Include: []string{"**/application.yaml"}}); other == named {
		t.Error("the digest is the same in another format")
	}
	included := loading.CatalogLocation{Include: []string{"**/cozyrds/*"}}
	before, changed := digest(vendorTree(), included), vendorTree()
	changed["packages/a-rd/Chart.yaml"].Data = []byte("name: other\n")
	if after := digest(changed, included); after != before {
		t.Errorf("a file that is not included changes the digest")
	}
}

// A pattern of a tenant does not take much time, whatever the paths are.
func TestCostOfPatterns(t *testing.T) {
	path := strings.Repeat("a/", 15) + strings.Repeat("a", 900) + ".yaml"
	fsys := fstest.MapFS{path: {Data: fmt.Appendf(nil, definitionText, "a")}}
	for _, pattern := range []string{strings.Repeat("**/", 80) + "b", strings.Repeat("*a", 120) + "b", strings.Repeat("**/a*/", 40) + "b"} {
		began := time.Now()
		_, err := loading.FS(t.Context(), "vendor", fsys, loading.CatalogLocation{Include: []string{pattern}})
		if took := time.Since(began); err == nil || took > 5*time.Second {
			t.Errorf("%s: %v after %s", pattern, err, took)
		}
	}
}

func directoryOf(t *testing.T, fsys fs.FS) *tree.Tree {
	t.Helper()
	read, err := archive.ReadFS(t.Context(), fsys, archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return read
}
