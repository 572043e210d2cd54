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
