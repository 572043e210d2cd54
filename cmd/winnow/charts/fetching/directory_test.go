// SPDX-License-Identifier: Apache-2.0

package fetching_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	unpacking "github.com/winnow-dev/winnow/render/archive"
)

func write(t *testing.T, directory string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		name = filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFetchFromADirectory(t *testing.T) {
	directory := t.TempDir()
	write(t, directory, map[string]string{
		"a/web-1.0.0.tgz":              "first",
		"b/web-1.0.0.tgz":              "second",
		"charts/web/Chart.yaml":        "name: web\nversion: 2.0.0\n",
		"charts/web/.helmignore":       "*.md\nsecret/\n",
		"charts/web/README.md":         "",
		"charts/web/secret/key":        "",
		"charts/web/templates/a.yaml":  "a: b",
		"charts/web/templates/.hidden": "",
		"charts/none/Chart.yaml":       "[",
		"charts/linked/Chart.yaml":     "name: linked\nversion: 1.0.0\n",
	})
	write(t, directory, map[string]string{
		"charts/large/Chart.yaml":    "name: large\nversion: 1.0.0\n" + strings.Repeat("# large\n", 1<<18),
		"charts/ignoring/Chart.yaml": "name: ignoring\nversion: 1.0.0\n", "charts/ignoring/.helmignore": strings.Repeat("*a*b*c\n", 1000),
	})
	if err := os.Symlink("/etc/passwd", filepath.Join(directory, "charts/linked/values.yaml")); err != nil {
		t.Skip(err)
	}
	d, err := fetching.OpenDirectory(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	fetch := func(name, version string) ([]byte, error) {
		return d.Fetch(t.Context(), fetching.Reference{URL: "https://example.com", Name: name, Version: version})
	}
	if got, err := fetch("web", "1.0.0"); err != nil || string(got) != "first" {
		t.Errorf("a file: %q, %v", got, err)
	}
	packed, err := fetch("library/web", "2.0.0")
	if err != nil {
		t.Fatal(err)
	}
	files, err := unpacking.Read(t.Context(), bytes.NewReader(packed), unpacking.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := files.Paths(), []string{"web/.helmignore", "web/Chart.yaml", "web/templates/a.yaml"}; !slices.Equal(got, want) {
		t.Errorf("packed are %q, want %q", got, want)
	}
	for name, want := range map[string]string{
		"linked": "symbolic link is not allowed", "large": "neither large-1.0.0.tgz nor a directory", "ignoring": ".helmignore has more than 500 lines", "missing": "neither missing-1.0.0.tgz nor a directory",
	} {
		if _, err := fetch(name, "1.0.0"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestADirectoryHasTheVersionThatHelmTakes(t *testing.T) {
	directory := t.TempDir()
	write(t, directory, map[string]string{
		"web-1.2.0.tgz": "1.2.0", "web-1.2.1.tgz": "1.2.1", "web-2.0.0+b1.tgz": "2.0.0+b1", "web-ui-3.0.0.tgz": "3.0.0", "src/Chart.yaml": "name: web\nversion: 1.1.0\n",
	})
	d, err := fetching.OpenDirectory(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	const repository, registry = "https://charts.example.com", "oci://charts.example.com"
	for _, test := range []struct{ url, version, want string }{
		{repository, "1.2", "1.2.1"}, {repository, "2.0.0", "2.0.0+b1"}, {repository, "1.2.0", "1.2.0"}, {repository, "*", "2.0.0+b1"},
		{repository, "9", "has neither web-9.tgz"}, {repository, "one", `"one" is neither a version nor a range, and Helm refuses it`},
		{registry, "1.2", "has neither web-1.2.tgz"}, {registry, "2.0.0", "has neither web-2.0.0.tgz"}, {registry, "2.0.0+b1", "2.0.0+b1"},
		{registry, "2.0.0_b1", `"2.0.0_b1" is neither a version nor a range, and Helm refuses it`}, {registry, "~1.2", `"~1.2" is a range`},
	} {
		content, err := d.Fetch(t.Context(), fetching.Reference{URL: test.url, Name: "web", Version: test.version})
		got := string(content)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s %s: got %s, want %s", test.url, test.version, got, test.want)
		}
	}
	if _, err := d.Fetch(t.Context(), fetching.Reference{URL: repository, Name: "web", Version: "1.1"}); err != nil {
		t.Error(err)
	}
}
