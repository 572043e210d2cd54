// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/catalog/violation"
)

// files are the content of a catalog by path.
type files map[string]string

func (f files) fs() fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, content := range f {
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return fsys
}

// with returns the files of a valid catalog with one application, and others beside it.
func with(others files) files {
	all := files{"applications/good/application.yaml": definition("good")}
	maps.Copy(all, others)
	return all
}

func definition(name string, versions ...string) string {
	text := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: " + name + "\nspec:\n  method: helm\n"
	for i, version := range versions {
		if i == 0 {
			text += "  versions:\n"
		}
		text += "    - version: " + version + "\n"
	}
	return text
}

// violations loads a catalog and returns what is wrong with it, a line each.
func violations(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	loaded, err := catalog.Applications{}.Load(context.Background(), fsys)
	if err == nil {
		return nil
	}
	var invalid *violation.InvalidError
	if !errors.As(err, &invalid) || loaded != nil || len(invalid.Violations) == 0 {
		t.Fatalf("Load() = %v, %v, want an InvalidError with violations and no catalog", loaded, err)
	}
	var lines []string
	for _, violation := range invalid.Violations {
		lines = append(lines, violation.String())
	}
	return lines
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("violations:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLoadReturnsTheWholeCatalog(t *testing.T) {
	argocd := "# a comment\r\n" + strings.ReplaceAll(definition("argocd", "2.13.0", "2.9.0"), "\n", "\r\n")
	bucket := "\ufeffapiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata: {name: bucket}\nspec: {}\n---\n# nothing\n"
	content := files{
		"z/application.yaml":           argocd,
		"z/metadata.yaml":              "tier: gold\ndeprecated: use flux\nlabels: {category: gitops}\nannotations: {a/b: any thing}\nowner: [x, 1, 1.5, true, null, 2026-01-02]\n",
		"b/application.yaml":           bucket,
		"catalogs/all/metadata.yaml":   "applications: [bucket, argocd]\n",
		"catalogs/empty/metadata.yaml": "description: for later\napplications: []\n",
	}
	want := func(prefix string) *catalog.Catalog {
		return &catalog.Catalog{
			Applications: []*catalog.Application{{
				Name: "argocd", Path: prefix + "z/application.yaml",
				APIVersion: "apps.kubermatic.k8c.io/v1", Group: "apps.kubermatic.k8c.io", Kind: "ApplicationDefinition",
				Document: []byte(argocd), Versions: []string{"2.13.0", "2.9.0"}, SpecFields: []string{"method", "versions"},
				Method: "helm",
				Metadata: metadata.Metadata{
					Tier: "gold", Deprecated: "use flux",
					Labels:      map[string]string{"category": "gitops"},
					Annotations: map[string]string{"a/b": "any thing"},
					Extra:       map[string]any{"owner": []any{"x", int64(1), 1.5, true, nil, "2026-01-02"}},
				},
			}, {
				Name: "bucket", Path: prefix + "b/application.yaml",
				APIVersion: "cozystack.io/v1alpha1", Group: "cozystack.io", Kind: "ApplicationDefinition",
				Document: []byte(bucket),
			}},
			Lists: map[string][]string{"all": {"bucket", "argocd"}, "empty": {}},
		}
	}
	for _, layout := range []struct{ name, prefix string }{
		{"with the directory applications", "applications/"},
		{"with applications at the root", ""},
	} {
		t.Run(layout.name, func(t *testing.T) {
			placed := files{}
			for name, text := range content {
				if !strings.HasPrefix(name, "catalogs/") {
					name = layout.prefix + name
				}
				placed[name] = text
			}
			loaded, err := catalog.Load(context.Background(), placed.fs())
			if err != nil {
				t.Fatal(err)
			}
			wanted := want(layout.prefix)
			if !reflect.DeepEqual(loaded.Applications, wanted.Applications) || !reflect.DeepEqual(loaded.Lists, wanted.Lists) {
				t.Errorf("Load() = %+v", loaded)
			}
		})
	}
}

func TestLoadFindsApplicationsByLayout(t *testing.T) {
	missing := ".: holds no application: expected applications/<dir>/application.yaml, or <dir>/application.yaml at the root; for another format, such as FileBased, set format"
	symlink := with(nil).fs()
	symlink["applications/latest"] = &fstest.MapFile{Data: []byte("good"), Mode: fs.ModeSymlink}
	for _, test := range []struct {
		name string
		fsys fs.FS
		want []string
	}{
		{"an empty catalog says what was expected", files{}.fs(), []string{missing}},
		{"an empty directory applications says what was expected", files{"applications/README.md": ""}.fs(), []string{missing}},
		{"other directories at the root are no applications", files{"docs/x.yaml": "", "app/application.yml": ""}.fs(), []string{missing}},
		{"the directory of lists is no application", files{"catalogs/application.yaml": definition("x")}.fs(), []string{missing}},
		{"with applications/ the root's other directories are ignored", with(files{"bad/application.yaml": "x"}).fs(), nil},
		{
			"every directory in applications/ must hold an application", with(files{"applications/x/README.md": ""}).fs(),
			[]string{"applications/x/application.yaml: is missing; if it is a symbolic link, which Flux drops, store the file itself"},
		},
		{
			"a wrong extension is named",
			with(files{
				"applications/x/application.yml": definition("x"),
				"applications/good/metadata.yml": "tier: gold",
				"catalogs/l/metadata.yml":        "",
			}).fs(),
			[]string{
				"applications/good/metadata.yaml: is missing: rename applications/good/metadata.yml",
				"applications/x/application.yaml: is missing: rename applications/x/application.yml",
				"catalogs/l/metadata.yaml: is missing: rename catalogs/l/metadata.yml",
			},
		},
		{
			"hidden directories and stray files are ignored",
			with(files{
				"applications/.git/config": "", "applications/OWNERS": "", ".github/x": "",
				"catalogs/.x/y": "", "catalogs/README.md": "", "LICENSE": "",
			}).fs(), nil,
		},
		{"a file called catalogs is ignored", with(files{"catalogs": ""}).fs(), nil},
		{
			"a directory instead of a file is refused", with(files{"applications/x/application.yaml/y": ""}).fs(),
			[]string{"applications/x/application.yaml: must be a regular file"},
		},
		{
			"a link to an application is refused, not ignored", symlink,
			[]string{"applications/latest: is a symbolic link, which a catalog cannot hold"},
		},
		{
			"two directories with one name name each other",
			with(files{
				"applications/a/application.yaml": definition("twin"),
				"applications/b/application.yaml": "# moved\n" + definition("twin"),
			}).fs(),
			[]string{`applications/b/application.yaml:5: metadata.name "twin" is taken by applications/a/application.yaml`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			compare(t, violations(t, test.fsys), test.want)
		})
	}
}

func TestLoadReportsTheViolationsOfAllFilesTogether(t *testing.T) {
	compare(t, violations(t, with(files{
		"applications/b/application.yaml": "kind: ConfigMap\n",
		"applications/b/metadata.yaml":    "tier: 1\ndeprecated: true\n",
		"applications/c/application.yaml": "a: [",
		"applications/d/README.md":        "",
		"catalogs/x/metadata.yaml":        "applications: good\n",
	}).fs()), []string{
		"applications/b/application.yaml:1: apiVersion is missing",
		`applications/b/application.yaml:1: kind must be ApplicationDefinition, not "ConfigMap"`,
		"applications/b/application.yaml:1: metadata is missing",
		"applications/b/application.yaml:1: spec is missing",
		"applications/b/metadata.yaml:1: tier must be a string, not a number",
		"applications/b/metadata.yaml:2: deprecated must be a message that says what to use instead, not a boolean; leave it out when the application is not deprecated",
		"applications/c/application.yaml:1: is not valid YAML: did not find expected node content: a [ or { is not closed, or a text that begins with one lacks quotes",
		"applications/d/application.yaml: is missing; if it is a symbolic link, which Flux drops, store the file itself",
		"catalogs/x/metadata.yaml:1: applications must be a list, such as [], not a string",
	})
}

// shuffled returns directories in another order every time.
type shuffled struct{ fstest.MapFS }

func (s shuffled) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := s.MapFS.ReadDir(name)
	rand.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	return entries, err
}

func TestLoadDoesNotDependOnTheOrderOfDirectories(t *testing.T) {
	valid, broken := files{}, files{}
	for i := range 60 {
		directory := fmt.Sprintf("applications/d%02d/", i)
		valid[directory+"application.yaml"] = definition(fmt.Sprintf("app-%02d", 59-i), "1.0.0")
		valid[directory+"metadata.yaml"] = fmt.Sprintf("tier: gold\nrank: %d\n", i)
		broken[directory+"application.yaml"] = definition(fmt.Sprintf("app-%02d", i%7), "1.0.0", "1.0.0")
	}
	want, err := catalog.Load(context.Background(), valid.fs())
	if err != nil {
		t.Fatal(err)
	}
	wantViolations := violations(t, broken.fs())
	for range 20 {
		got, err := catalog.Load(context.Background(), shuffled{valid.fs()})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("Load() = %v, %v, which differs from another run", got, err)
		}
		compare(t, violations(t, shuffled{broken.fs()}), wantViolations)
	}
}

// failing cannot open one of its files.
type failing struct {
	fstest.MapFS
	name string
	err  error
}

func (f failing) Open(name string) (fs.File, error) {
	if name == f.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: f.err}
	}
	return f.MapFS.Open(name)
}

func TestLoadTellsFailuresFromViolations(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := catalog.Load(cancelled, with(nil).fs()); !errors.Is(err, context.Canceled) {
		t.Errorf("Load() with a cancelled context = %v, want context.Canceled", err)
	}
	content := with(files{"applications/bad/application.yaml": "a: [", "applications/good/metadata.yaml": ""}).fs()
	for _, name := range []string{"applications/good/application.yaml", "applications/good/metadata.yaml"} {
		_, err := catalog.Load(context.Background(), failing{content, name, fs.ErrPermission})
		var invalid *violation.InvalidError
		if !errors.Is(err, fs.ErrPermission) || errors.As(err, &invalid) {
			t.Errorf("Load() with an unreadable %s = %v, want fs.ErrPermission", name, err)
		}
	}
}
