// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sync/errgroup"
)

func TestCacheKey(t *testing.T) {
	module := func(mod, sum string) fstest.MapFS {
		return fstest.MapFS{"go.mod": {Data: []byte(mod)}, "go.sum": {Data: []byte(sum)}}
	}
	key := func(files fstest.MapFS, toolchain string) string {
		t.Helper()
		k, err := cacheKey(files, toolchain)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	base := key(module("m", "s"), "go1.26.0")
	if again := key(module("m", "s"), "go1.26.0"); again != base {
		t.Errorf("the same module has the keys %s and %s", base, again)
	}
	others := map[string]string{
		"another go.mod":                   key(module("n", "s"), "go1.26.0"),
		"another go.sum":                   key(module("m", "t"), "go1.26.0"),
		"another toolchain":                key(module("m", "s"), "go1.26.1"),
		"a byte moved from one to another": key(module("ms", ""), "go1.26.0"),
	}
	for what, other := range others {
		if other == base {
			t.Errorf("%s does not change the key", what)
		}
	}
	if _, err := cacheKey(fstest.MapFS{"go.mod": {}}, "go1.26.0"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without go.sum: got %v, want os.ErrNotExist", err)
	}
}

func TestExistingBinaries(t *testing.T) {
	root := t.TempDir()
	existing := filepath.Join(root, "bin")
	writeFile(t, filepath.Join(existing, Etcd), "#!/bin/sh\n", 0o700)

	t.Run("are used instead of building", func(t *testing.T) {
		for _, variable := range []string{binDirVariable, assetsDirectory} {
			t.Setenv(binDirVariable, "")
			t.Setenv(variable, "bin") // relative paths start at the root
			b, err := newBuilder(root, newProgress(nil))
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.binary(t.Context(), servers()[0])
			if want := filepath.Join(existing, Etcd); err != nil || got != want {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		}
	})
	t.Run("need a directory that exists", func(t *testing.T) {
		t.Setenv(binDirVariable, filepath.Join(root, "absent"))
		if _, err := newBuilder(root, newProgress(nil)); err == nil {
			t.Error("no error")
		}
	})
	t.Run("that are missing are built", func(t *testing.T) {
		b, srv, _ := tinyBuilder(t, "func main() {}")
		b.existing = []string{existing}
		got, err := b.binary(t.Context(), srv)
		if err != nil || !strings.HasPrefix(got, b.cache) {
			t.Errorf("got %s, %v, want a path in %s", got, err, b.cache)
		}
	})
}

func TestBuild(t *testing.T) {
	t.Run("happens once, however many want it", func(t *testing.T) {
		b, srv, narration := tinyBuilder(t, "func main() {}")
		var group errgroup.Group
		for range 3 {
			group.Go(func() error {
				_, err := b.binary(t.Context(), srv)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(narration.String(), "about 1 min on 2 cores\n    tiny\n"); n != 1 {
			t.Errorf("built %d times:\n%s", n, narration)
		}
	})
	t.Run("that fails shows what the compiler said, and leaves nothing", func(t *testing.T) {
		b, srv, _ := tinyBuilder(t, "func main() { nonsense() }")
		path, err := b.binary(t.Context(), srv)
		if err == nil || !strings.Contains(err.Error(), "undefined: nonsense") {
			t.Errorf("got %s, %v", path, err)
		}
		left, _ := filepath.Glob(filepath.Join(b.cache, "*", "*"))
		if len(left) != 1 || filepath.Base(left[0]) != ".lock" {
			t.Errorf("left behind: %v, want only the lock", left)
		}
	})
	t.Run("removes what a killed build has left", func(t *testing.T) {
		b, srv, _ := tinyBuilder(t, "func main() {}")
		dir, err := b.moduleCache(t.Context(), srv.module)
		if err != nil {
			t.Fatal(err)
		}
		leftover := filepath.Join(dir, temporaryPrefix+"1", "tiny")
		writeFile(t, leftover, "half a bin", 0o600)
		if _, err := b.binary(t.Context(), srv); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(leftover); !os.IsNotExist(err) {
			t.Errorf("still there: %v", err)
		}
	})
	t.Run("ends with its context", func(t *testing.T) {
		b, srv, _ := tinyBuilder(t, "func main() {}")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.binary(ctx, srv); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
}

// tinyBuilder builds a server without dependencies from this source.
func tinyBuilder(t *testing.T, source string) (*builder, server, *bytes.Buffer) {
	t.Helper()
	tools := t.TempDir()
	writeFile(t, filepath.Join(tools, "tiny", "go.mod"), "module example.com/tiny\n\ngo 1.26.0\n", 0o600)
	writeFile(t, filepath.Join(tools, "tiny", "go.sum"), "", 0o600)
	writeFile(t, filepath.Join(tools, "tiny", "main.go"), "package main\n\n"+source+"\n", 0o600)
	srv := server{name: "tiny", module: "tiny", pkg: "example.com/tiny", versionOf: "example.com/tiny", minutes: 1}
	var narration bytes.Buffer
	return &builder{tools: tools, cache: t.TempDir(), progress: newProgress(&narration)}, srv, &narration
}

func writeFile(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}
