// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package install_test

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/winnow-dev/winnow"

// TestGoInstall packs the working tree as the module that a proxy would serve for the branch main, and runs the lines
// of the pages that install the command line from there.
func TestGoInstall(t *testing.T) {
	const version = "v0.0.0-20260102030405-0123456789ab"
	proxy := t.TempDir()
	pack(t, proxy, version)
	modules, cache := t.TempDir(), strings.TrimSpace(command(t, root(t), nil, "go", "env", "GOMODCACHE"))
	env := []string{
		// Of what this machine has downloaded already, nothing is fetched again.
		"GOPROXY=file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(cache) + "/cache/download," +
			strings.TrimSpace(command(t, root(t), nil, "go", "env", "GOPROXY")),
		// The version is in no checksum database, and go.sum has checked what the machine has downloaded.
		"GOSUMDB=off",
		// In a module cache of its own, to leave nothing of this version in that of the machine. Compiled as `make
		// image` does, so that the dependencies are built once for both.
		"GOMODCACHE=" + modules, "GOFLAGS=-modcacherw -trimpath", "CGO_ENABLED=0",
		"WINNOW_VERSION=main",
	}
	lines := installLines(t)
	if len(lines) < 2 {
		t.Fatalf("the pages have only the lines %q", lines)
	}
	for _, line := range lines {
		bin := t.TempDir()
		command(t, t.TempDir(), append(env, "GOBIN="+bin), "bash", "-euc", line)
		if got := command(t, bin, nil, filepath.Join(bin, "winnow"), "version"); !strings.HasPrefix(got, "winnow "+version+" (go") {
			t.Errorf("after %s, winnow version prints %q", line, got)
		}
	}
}

// installLines returns the commands in the pages that install the command line.
func installLines(t *testing.T) (lines []string) {
	t.Helper()
	installs := regexp.MustCompile(`(?m)^[ -]*(?:run: )?(go install .*` + regexp.QuoteMeta(module) + `/cmd/winnow@.*)$`)
	for _, file := range files(t) {
		if path.Ext(file) != ".md" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root(t), file))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range installs.FindAllStringSubmatch(string(content), -1) {
			lines = append(lines, match[1])
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// pack writes the files of a version as a module proxy serves them. Like a proxy, it leaves modules in directories
// below out.
func pack(t *testing.T, proxy, version string) {
	t.Helper()
	present := files(t)
	var below []string
	for _, file := range present {
		if dir := path.Dir(file); path.Base(file) == "go.mod" && dir != "." {
			below = append(below, dir+"/")
		}
	}
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, file := range present {
		if slices.ContainsFunc(below, func(dir string) bool { return strings.HasPrefix(file, dir) }) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root(t), file))
		if err != nil {
			t.Fatal(err)
		}
		w, err := archive.Create(module + "@" + version + "/" + file)
		if err == nil {
			_, err = io.Copy(w, bytes.NewReader(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	requirements, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	info := `{"Version":"` + version + `","Time":"2026-01-02T03:04:05Z"}`
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"../@latest": info, "main.info": info, version + ".info": info, version + ".mod": string(requirements), version + ".zip": packed.String(), "list": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
