// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/crds"
	"github.com/winnow-dev/winnow/test/stack"
)

// The objects in the golden files of the backends are what the controllers' own definitions allow. Cozystack has no
// definitions for the kinds that its API server serves.
func TestObjectsOfInstancesFitTheirKinds(t *testing.T) {
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	set := &crds.Set{}
	for _, definition := range []struct{ tools, module, file string }{
		{"flux", "github.com/fluxcd/source-controller", "source.toolkit.fluxcd.io_helmrepositories.yaml"},
		{"flux", "github.com/fluxcd/source-controller", "source.toolkit.fluxcd.io_ocirepositories.yaml"},
		{"helm", "github.com/fluxcd/helm-controller", "helm.toolkit.fluxcd.io_helmreleases.yaml"},
		{"crds", "github.com/flux-iac/tofu-controller", "infra.contrib.fluxcd.io_terraforms.yaml"},
	} {
		loadDefinition(t, root, set, definition.tools, definition.module, definition.file)
	}
	t.Run("Flux and tofu-controller", func(t *testing.T) { checkGoldens(t, root, set, 12) })
	t.Run("OLM", func(t *testing.T) {
		set := &crds.Set{}
		for _, release := range []stack.OLM{stack.OLMv0(), stack.OLMv1()} {
			files, err := release.CRDs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				if err := set.LoadFile(filepath.Dir(file), os.DirFS(filepath.Dir(file)), filepath.Base(file)); err != nil {
					t.Fatal(err)
				}
			}
		}
		checkGoldens(t, root, set, 6)
	})
	t.Run("KKP", func(t *testing.T) {
		set := &crds.Set{}
		if err := set.Load(t.Context(), "kkp", os.DirFS(filepath.Join(dataDir(t, root), "kkp/crd"))); err != nil {
			t.Fatal(err)
		}
		checkGoldens(t, root, set, 2)
	})
}

// loadDefinition adds a definition in a module that a module of tools pins.
func loadDefinition(t *testing.T, root string, set *crds.Set, tools, path, file string) {
	t.Helper()
	dir := filepath.Join(module(t, root, tools, path), "config/crd/bases")
	if err := set.LoadFile(dir, os.DirFS(dir), file); err != nil {
		t.Fatal(err)
	}
}

// module returns the directory of a module in the version that a module of tools pins.
func module(t *testing.T, root, tools, path string) string {
	t.Helper()
	dir, err := stack.PinnedModule(t.Context(), root, tools, path)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// checkGoldens checks the objects of the kinds that the set has, of which there are so many.
func checkGoldens(t *testing.T, root string, set *crds.Set, want int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "render/backend/testdata/*/objects.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		stream, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		result, err := set.Check(t.Context(), stream)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, finding := range result.Findings {
			t.Errorf("%s: %s", filepath.Base(filepath.Dir(file)), finding)
		}
		checked += result.Checked
	}
	if checked != want {
		t.Errorf("checked %d objects, want %d", checked, want)
	}
}
