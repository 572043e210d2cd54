// SPDX-License-Identifier: Apache-2.0

package importing_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/importing"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/violation"
)

func TestTheHighestVersionsOfManyAreTaken(t *testing.T) {
	var index strings.Builder
	index.WriteString("apiVersion: v1\nentries:\n  app:\n")
	for n := range 1002 {
		fmt.Fprintf(&index, "  - {version: 1.%d.0}\n", (n*7)%1002)
	}
	importer := importing.New(importing.Helm{URL: "https://charts.example.com"}, nil)
	if err := importer.Add(t.Context(), "index.yaml", []byte(index.String())); err != nil {
		t.Fatal(err)
	}
	loaded, err := catalog.Load(t.Context(), importer.Files().FS())
	if err != nil {
		t.Fatal(err)
	}
	versions := loaded.Applications[0].Versions
	if len(versions) != 1000 || versions[0] != "1.2.0" || versions[999] != "1.1001.0" {
		t.Errorf("got %d versions from %s to %s", len(versions), versions[0], versions[len(versions)-1])
	}
	want := importing.Skipped{
		Place: "index.yaml", Name: "app",
		Reason: "a catalog takes 1000 versions of an application, and these are older: 1.0.0, 1.1.0",
	}
	if len(importer.Skipped) != 1 || importer.Skipped[0] != want {
		t.Errorf("skipped %v, want %v", importer.Skipped, want)
	}
}

func TestWhatIsNotTakenIsBounded(t *testing.T) {
	importer := importing.New(importing.Helm{}, nil)
	if err := importer.Add(t.Context(), "file", []byte(strings.Repeat("a\n---\n", 1001))); err != nil {
		t.Fatal(err)
	}
	if len(importer.Skipped) != 1000 || importer.Omitted != 1 {
		t.Errorf("%d are kept, %d omitted", len(importer.Skipped), importer.Omitted)
	}
}

// unreadable has a file and a directory that the user may not read.
type unreadable struct{ fstest.MapFS }

func (u unreadable) Open(name string) (fs.File, error) {
	if strings.Contains(name, "secret") {
		return nil, &fs.PathError{Op: "openat", Path: name, Err: fs.ErrPermission}
	}
	return u.MapFS.Open(name)
}

func TestAnUnreadablePlaceIsNamed(t *testing.T) {
	for file, place := range map[string]string{"a/secret.yaml": "dir/a/secret.yaml", "a/secret/b.yaml": "dir/a/secret"} {
		importer := importing.New(importing.Helm{}, nil)
		err := importer.AddDirectory(t.Context(), &importing.Reader{}, "dir", unreadable{fstest.MapFS{file: {}}})
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), place) {
			t.Errorf("%v does not name %s", err, place)
		}
	}
}

func TestLabelsWithoutEndAreRefused(t *testing.T) {
	var definition strings.Builder
	definition.WriteString("apiVersion: a/v1\nkind: ApplicationDefinition\nspec: {}\nmetadata:\n  name: app\n  labels:\n    a: b\n")
	for n := range 30_000 {
		fmt.Fprintf(&definition, "    catalog.winnow.dev/%d: a\n", n)
	}
	importer := importing.New(importing.Helm{}, nil)
	if err := importer.Add(t.Context(), "file", []byte(definition.String())); err != nil {
		t.Fatal(err)
	}
	want := importing.Skipped{Place: "file", Name: "app", Reason: "it has more than 1000 labels and annotations to leave out"}
	if len(importer.Skipped) != 1 || importer.Skipped[0] != want {
		t.Errorf("skipped %v, want %v", importer.Skipped, want)
	}
}

// Whatever the input, each application that is taken makes a valid catalog, and a second import takes none of them.
func FuzzImport(f *testing.F) {
	const definition = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: app\n  uid: a\n" +
		"  labels:\n    catalog.winnow.dev/tier: gold\n    a: b\nspec: {}\nstatus: {}\n"
	for _, seed := range []string{
		definition, "# a\n---\n" + definition + "---\n" + definition, strings.ReplaceAll(definition, "app", "../app"),
		"kind: List\nitems:\n- " + strings.ReplaceAll(definition, "\n", "\n  "), "--- {kind: ApplicationDefinition}\n...\n%YAML 1.2\n",
		`{"kind":"List","items":[{"apiVersion":"a/v1","kind":"ApplicationDefinition","metadata":{"name":"a"},"spec":{}}]}`,
		"apiVersion: v1\nentries:\n  app:\n  - {version: 1.0.0, urls: ['oci://h/p/app:1.0.0']}\n  - {version: 1.10, sources: [a]}\n",
		"kind: ApplicationDefinition\nmetadata: &m {<<: *m, labels: *m}\n", "metadata: {labels: &l {a: b}, annotations: *l}\nkind: ApplicationDefinition\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		importer := importing.New(importing.Helm{URL: "https://charts.example.com"}, nil)
		if err := importer.Add(t.Context(), "file", content); err != nil {
			t.Fatal(err)
		}
		if importer.Len() == 0 {
			return
		}
		var invalid *violation.InvalidError
		err := importer.Check(t.Context())
		if err != nil && (importer.Len() == 1 || !errors.As(err, &invalid)) {
			t.Fatal(err)
		}
		existing := map[string]string{}
		for _, path := range importer.Files().Paths() {
			existing[strings.Split(path, "/")[1]] = path
		}
		again := importing.New(importing.Helm{URL: "https://charts.example.com"}, existing)
		if err := again.Add(t.Context(), "file", content); err != nil || again.Len() > 0 {
			t.Errorf("a second import takes %d applications: %v", again.Len(), err)
		}
	})
}
