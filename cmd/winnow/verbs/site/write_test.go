// SPDX-License-Identifier: Apache-2.0

package site_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/farm"
)

func TestSite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	repository := filepath.Join(t.TempDir(), "repository")
	f := farm.Farm{Clusters: 6, Registry: "127.0.0.1:1"}
	if err := farm.Commit(t.Context(), repository, f.Files(), f.Effects()); err != nil {
		t.Skip(err)
	}
	catalog := "../../../../examples/catalog"
	notRead := filepath.Join(t.TempDir(), "missing")
	for _, test := range []struct {
		name string
		args []string
		code int
		// notes are a part of standard error, and page has text.
		notes, page, text string
	}{
		{name: "no directory", args: []string{catalog}, code: root.ExitFailed, notes: "-o DIR is missing: add -o site"},
		{name: "nothing to show", args: []string{"-o", dir}, code: root.ExitFailed, notes: "of what? pass a CATALOG, --git DIR, or both"},
		{name: "a format instead of a directory", args: []string{catalog, "-o", "json"}, code: root.ExitFailed, notes: "-o takes a directory"},
		{name: "a base without a repository", args: []string{catalog, "-o", dir, "--base", "main"}, code: root.ExitFailed, notes: "--base, --receipts and --repository are for --git"},
		{name: "no repository", args: []string{"--git", filepath.Dir(repository), "-o", dir}, code: root.ExitFailed, notes: "no Git repository is here"},
		{name: "a catalog that is not there", args: []string{notRead, "-o", dir}, code: root.ExitFailed, notes: "there is nothing to show: "},
		{
			name: "a catalog", args: []string{catalog, "-o", dir}, notes: "10 applications",
			page: "catalogs/catalog/applications/argocd.html", text: "Continuous delivery that keeps a cluster in the state",
		},
		{
			name: "another one with a name, and one that is not there", args: []string{"mine=" + catalog, notRead, "-o", dir, "--title", "Platform"}, notes: "warning: " + notRead + ": no catalog",
			page: "index.html", text: "<h3 id=\"unread\">Could not be read",
		},
		{
			name: "a repository, and a catalog in the place of that of its registry", args: []string{"catalog=" + catalog, "--git", repository, "-o", dir},
			notes: "10 applications, 6 clusters in 1 group", page: "fleet.html", text: "clusters/c006",
		},
		{
			name: "a repository whose registry does not answer", args: []string{"--git", repository, "-o", dir}, notes: "6 clusters in 0 groups",
			page: "index.html", text: "CatalogSelection flux-system/applications: ",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := clitest.Execute(t.Context(), append([]string{"site"}, test.args...)...)
			if got.Code != test.code || !strings.Contains(got.Stderr, test.notes) || got.Stdout != "" {
				t.Fatalf("exit code %d, want %d; stdout %q; stderr has no %q:\n%s", got.Code, test.code, got.Stdout, test.notes, got.Stderr)
			}
			if test.page == "" {
				return
			}
			if text := clitest.ReadFile(t, filepath.Join(dir, filepath.FromSlash(test.page))); !strings.Contains(text, test.text) {
				t.Errorf("%s does not have %q:\n%s", test.page, test.text, text)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "catalogs")); !os.IsNotExist(err) {
		t.Errorf("the catalogs of an earlier site are there: %v", err)
	}
}

// A site is written whole or not at all, and nothing of others is replaced.
func TestSiteReplacesNothingOfOthers(t *testing.T) {
	dir := t.TempDir()
	clitest.WriteFile(t, filepath.Join(dir, "index.html"), "mine")
	got := clitest.Execute(t.Context(), "site", "../../../../examples/catalog", "-o", dir)
	if got.Code != root.ExitFailed || !strings.Contains(got.Stderr, "holds index.html, which no earlier output has") || clitest.ReadFile(t, filepath.Join(dir, "index.html")) != "mine" {
		t.Errorf("exit code %d: %s", got.Code, got.Stderr)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v: %v", entries, err)
	}
}

// The instances of the example for Flux alone, of which each cluster pins some.
func TestSiteShowsInstancesWithANewerVersion(t *testing.T) {
	files := map[string]string{}
	const example = "../../../../examples/plain-flux"
	for _, dir := range []string{"base", "clusters", "flux"} {
		err := filepath.WalkDir(filepath.Join(example, dir), func(name string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				files[filepath.ToSlash(strings.TrimPrefix(name, filepath.FromSlash(example)+string(filepath.Separator)))] = clitest.ReadFile(t, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	repository, dir := t.TempDir(), filepath.Join(t.TempDir(), "site")
	if err := farm.Commit(t.Context(), repository, files); err != nil {
		t.Skip(err)
	}
	if got := clitest.Execute(t.Context(), "site", "plain-catalog="+example+"/catalog", "--git", repository, "-o", dir); got.Code != root.ExitOK {
		t.Fatalf("exit code %d: %s", got.Code, got.Stderr)
	}
	const want = `<tr><th scope="row">dashboards</th><td>dashboards</td><td><code>1.4.0</code></td><td><code>1.5.0</code></td><td><span class="places"><code>clusters/production</code></span></td></tr>`
	if page := clitest.ReadFile(t, filepath.Join(dir, "index.html")); !strings.Contains(page, want) {
		t.Errorf("the page does not have\n%s\nin\n%s", want, page)
	}
}

func TestTheSiteOfTheReadmeHasTheExamples(t *testing.T) {
	readme := strings.Join(strings.Fields(clitest.ReadFile(t, "../../../../README.md")), " ")
	_, command, _ := strings.Cut(readme, "`go run ./cmd/winnow site ")
	command, _, _ = strings.Cut(command, " -o ")
	t.Chdir("../../../..")
	dir := filepath.Join(t.TempDir(), "site")
	got := clitest.Execute(t.Context(), append(append([]string{"site"}, strings.Fields(command)...), "-o", dir)...)
	if got.Code != root.ExitOK || !strings.Contains(got.Stderr, ": 15 applications") {
		t.Errorf("%q: %+v", command, got)
	}
}
