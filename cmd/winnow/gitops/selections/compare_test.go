package selections

import (
	"context"
	"errors"
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

// commits creates a repository with two commits in the working directory of the test, and returns them.
func commits(t *testing.T, base, head map[string]string) (older, newer string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed")
	}
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	git(t, "init", "-q")
	commit := func(files map[string]string) string {
		for name, content := range files {
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
	loaded, err := render.LoadFS(ctx, address, files, render.Place{})
	return selection.Source{Digest: "sha256:" + strings.Repeat("01", 32), Catalog: loaded}, err
}

func compareSides(ctx context.Context, from, to *diff.Side) (*diff.Selection, error) {
	return diff.Compare(ctx, from, to, nil)
}

// said returns the changes, unknown parts and errors of a report in words.
func said(report *diff.Report) []string {
	all := slices.Concat(report.Notes, report.Unknown)
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
	const unchanged = "1 CatalogSelection with the same spec and sources in both commits"
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
			want: []string{unchanged},
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
	} {
		t.Run(test.name, func(t *testing.T) {
			base, head := commits(t, test.base, test.head)
			var o opener
			report, err := Compare(t.Context(), base, head, Options{Paths: []string{"."}, Open: o.open, Compare: compareSides})
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

func TestAPathThatNeitherCommitHasIsAnError(t *testing.T) {
	base, head := commits(t, nil, nil)
	_, err := Compare(t.Context(), base, head, Options{Paths: []string{"nowhere"}})
	if err == nil || !strings.Contains(err.Error(), "neither commit has anything at nowhere") {
		t.Errorf("Compare() = %v", err)
	}
}
