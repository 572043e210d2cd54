// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/selection"
)

// commits creates a repository with two commits in the working directory of the test, and returns them. A file without
// content is removed, or a directory.
func commits(t *testing.T, base, head map[string]string) (older, newer string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed")
	}
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	git(t, "init", "-q")
	git(t, "remote", "add", "origin", "https://git.example.com/org/fleet.git")
	commit := func(files map[string]string) string {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			content := files[name]
			if content == "" {
				if err := os.RemoveAll(name); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git(t, "add", "-A")
		git(t, "commit", "-q", "--allow-empty", "-m", "files")
		return git(t, "rev-parse", "HEAD")
	}
	older = commit(base)
	return older, commit(head)
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=somebody", "-c", "user.email=somebody@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// selecting returns a CatalogSelection of one source, with more fields in its spec.
func selecting(more string) string {
	return "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: apps, namespace: fleet}\n" +
		"spec:\n  sources: [{name: catalog}]\n" + more
}

// pulling returns the OCIRepository of the source, with more fields in its spec.
func pulling(more string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: catalog, namespace: fleet}\n" +
		"spec:\n  url: oci://example.com/catalog\n" + more
}

// opener opens catalogs with the applications that follow the last colon of the address.
type opener struct{ opened []string }

func (o *opener) open(ctx context.Context, address string, _ v1alpha1.SourceReference, plainHTTP bool) (selection.Source, error) {
	if plainHTTP {
		address = "insecure " + address
	}
	o.opened = append(o.opened, address)
	names := address[strings.LastIndexByte(address, ':')+1:]
	if names == "lost" {
		return selection.Source{}, errors.New("no such tag")
	}
	files := fstest.MapFS{}
	for name := range strings.SplitSeq(names, "-") {
		files["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(
			"apiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata:\n  name: " + name + "\nspec: {}\n")}
	}
	loaded, err := render.LoadFS(ctx, address, files, render.CatalogLocation{})
	return selection.Source{Digest: "sha256:" + strings.Repeat("01", 32), Catalog: loaded}, err
}

// said returns the changes, unknown parts and errors of a report in words.
func said(report *diff.Report) []string {
	all := slices.Concat(report.Notes, report.Unknown)
	for _, place := range report.Same {
		all = append(all, place.File+": the same")
	}
	for _, s := range report.Selections {
		for _, a := range s.Applications {
			all = append(all, s.File+": "+a.Name+" "+string(a.Change))
		}
		for _, sentence := range append(slices.Clone(s.Unknown), s.Error) {
			if sentence != "" {
				all = append(all, s.File+": "+sentence)
			}
		}
	}
	return all
}

func TestCommitsAreCompared(t *testing.T) {
	tagged := func(tag string) string { return pulling("  ref: {tag: " + tag + "}\n") }
	const built = ": no Kustomization that is built here applies it; it is built as if one did"
	for _, test := range []struct {
		name         string
		base, head   map[string]string
		opened, want []string
	}{
		{
			name: "another tag of the catalog",
			base: map[string]string{"a.yaml": selecting(""), "b.yaml": tagged("x-y")}, head: map[string]string{"b.yaml": tagged("y-z")},
			opened: []string{"oci://example.com/catalog:x-y", "oci://example.com/catalog:y-z"},
			want:   []string{"a.yaml: x removed", "a.yaml: z added"},
		},
		{
			name:   "an edit, of which the catalog is opened once",
			base:   map[string]string{"a.yaml": selecting(""), "b.yaml": tagged("x-y")},
			head:   map[string]string{"a.yaml": selecting("  exclude: [x]\n")},
			opened: []string{"oci://example.com/catalog:x-y"},
			want:   []string{"a.yaml: x removed"},
		},
		{
			name: "nothing that matters",
			base: map[string]string{"a.yaml": selecting(""), "b.yaml": tagged("x")}, head: map[string]string{"README.md": "text"},
			want: []string{"a.yaml: the same"},
		},
		{
			name:   "a selection that is new, without TLS",
			head:   map[string]string{"a.yaml": selecting(""), "b.yaml": pulling("  insecure: true\n  ref: {tag: x}\n")},
			opened: []string{"insecure oci://example.com/catalog:x"},
			want:   []string{"a.yaml: x added"},
		},
		{
			name: "a source that no file has",
			head: map[string]string{"a.yaml": selecting("")},
			want: []string{"a.yaml: source catalog: no OCIRepository of this name is among the files"},
		},
		{
			name: "a catalog that cannot be opened",
			base: map[string]string{"a.yaml": selecting(""), "b.yaml": tagged("x")}, head: map[string]string{"b.yaml": tagged("lost")},
			opened: []string{"oci://example.com/catalog:x", "oci://example.com/catalog:lost"},
			want:   []string{"a.yaml: after: no such tag"},
		},
		{
			name: "directories with kustomization files, of which another one has the source",
			base: map[string]string{
				"apps/kustomization.yaml": "resources: [a.yaml]\n", "apps/a.yaml": selecting(""),
				"sources/kustomization.yaml": "resources: [b.yaml]\n", "sources/b.yaml": tagged("x-y"),
			},
			head: map[string]string{"sources/kustomization.yaml": "resources: [b.yaml]\npatches:\n" +
				"- {target: {kind: OCIRepository}, patch: '- {op: replace, path: /spec/ref/tag, value: y-z}'}\n"},
			opened: []string{"oci://example.com/catalog:x-y", "oci://example.com/catalog:y-z"},
			want:   []string{"apps" + built, "sources" + built, "apps/a.yaml: x removed", "apps/a.yaml: z added"},
		},
		{
			name:   "a directory with a kustomization file that is moved",
			base:   map[string]string{"apps/kustomization.yaml": "resources: [a.yaml, b.yaml]\n", "apps/a.yaml": selecting(""), "apps/b.yaml": tagged("x-y")},
			head:   map[string]string{"apps": "", "moved/kustomization.yaml": "resources: [a.yaml, b.yaml]\n", "moved/a.yaml": selecting("  exclude: [x]\n"), "moved/b.yaml": tagged("x-y")},
			opened: []string{"oci://example.com/catalog:x-y"},
			want:   []string{"apps" + built, "moved" + built, "moved/a.yaml: x removed"},
		},
		{
			name: "a selection from the artifact of another one, which differs",
			base: map[string]string{"a.yaml": selecting(""), "b.yaml": tagged("x-y"), "c.yaml": strings.NewReplacer("name: apps", "name: more",
				"{name: catalog}", "{kind: ExternalArtifact, name: apps}").Replace(selecting(""))},
			head:   map[string]string{"a.yaml": selecting("  exclude: [x]\n")},
			opened: []string{"oci://example.com/catalog:x-y"},
			want:   []string{"a.yaml: x removed", "c.yaml: source apps: it is the artifact of the CatalogSelection fleet/apps, which differs"},
		},
		{
			name: "a selection that selected nothing",
			base: map[string]string{"a.yaml": selecting("  limit: {nameSelector: [z]}\n"), "b.yaml": tagged("x-y")}, head: map[string]string{"a.yaml": selecting("  limit: {nameSelector: [x]}\n")},
			opened: []string{"oci://example.com/catalog:x-y"},
			want:   []string{"a.yaml: before: nothing is selected; left out of 2 applications: 2 by limit.nameSelector: this was not published, and what was before is in the cluster only", "a.yaml: x added"},
		},
		{
			name: "no selection", base: map[string]string{"a.yaml": tagged("x")}, head: map[string]string{"a.yaml": tagged("y")},
			want: []string{"neither commit has a CatalogSelection at ."},
		},
		{
			name: "a directory that has nothing but remote bases",
			base: map[string]string{"over/prod/kustomization.yaml": "resources: ['https://example.com/base?ref=v1']\n"},
			head: map[string]string{"over/prod/kustomization.yaml": "resources: ['https://example.com/base?ref=v2']\n"},
			want: []string{
				"over/prod" + built,
				"over/prod: the directory has resources outside of this repository, which are not fetched; these, or the changes to them, differ: " +
					"https://example.com/base?ref=v1, https://example.com/base?ref=v2",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, head := commits(t, test.base, test.head)
			var o opener
			report, err := Compare(t.Context(), base, head, Options{Paths: []string{"."}, Open: o.open})
			if err != nil {
				t.Fatal(err)
			}
			if got := said(report); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			if !slices.Equal(o.opened, test.opened) {
				t.Errorf("opened %q, want %q", o.opened, test.opened)
			}
		})
	}
}

// What makes a source may have neither its kind nor its name.
func TestWhatBuildsASourceOutsideOfThePathsIsUnknown(t *testing.T) {
	patch := func(tag string) string { return "- {op: replace, path: /spec/ref/tag, value: " + tag + "}\n" }
	base, head := commits(t, map[string]string{
		"apps/a.yaml": selecting(""), "infra/base/b.yaml": pulling("  ref: {tag: x}\n"), "infra/base/kustomization.yaml": "resources: [b.yaml]\n",
		"infra/prod/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml, target: {name: catalog}}]\n", "infra/prod/p.yaml": patch("x-y"),
	}, map[string]string{"infra/prod/p.yaml": patch("y")})
	report, err := Compare(t.Context(), base, head, Options{Paths: []string{"apps"}, Open: (&opener{}).open})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"apps/a.yaml: source catalog: it is not at the paths that are compared; infra/prod may have it, and differs: pass that path, too"}
	if got := said(report); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAPathThatNeitherCommitHasIsAnError(t *testing.T) {
	base, head := commits(t, nil, nil)
	_, err := Compare(t.Context(), base, head, Options{Paths: []string{"nowhere"}})
	if err == nil || !strings.Contains(err.Error(), "neither commit has anything at nowhere") {
		t.Errorf("Compare() = %v", err)
	}
}
