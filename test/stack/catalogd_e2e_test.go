// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package stack_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/test/olmtest"
	"github.com/winnow-dev/winnow/test/stack"
)

const orchard = "render/catalog/filebased/testdata/orchard"

func TestOLMServesCatalogImages(t *testing.T) {
	opm := olmtest.Need(t)
	s := start(t, stack.Options{Registry: true})
	catalogd, err := s.StartCatalogd(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{stack.ConfigsLabel: "/configs"}
	image := pushOrchard(t, s, "orchard", labels)
	if again := pushOrchard(t, s, "orchard", labels); again != image {
		t.Errorf("the same catalog is %s and %s", image, again)
	}
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	opm.Validate(t, filepath.Join(root, orchard))
	want := opm.Render(t, filepath.Join(root, orchard))

	t.Run("catalogd", func(t *testing.T) {
		olmtest.ApplyCatalog(t, s, "orchard", image)
		served, err := catalogd.Served(t.Context(), "orchard")
		if err != nil {
			t.Fatal(err)
		}
		if got := olmtest.Blobs(t, served); !slices.Equal(got, want) {
			t.Errorf("catalogd serves\n%s\nbut the image has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	t.Run("opm", func(t *testing.T) {
		if got := opm.Render(t, image); !slices.Equal(got, want) {
			t.Errorf("opm renders\n%s\nbut the image has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	t.Run("an image without the label", func(t *testing.T) {
		olmtest.ApplyCatalog(t, s, "plain", pushOrchard(t, s, "plain", nil))
		if _, err := catalogd.Served(t.Context(), "plain"); err == nil || !strings.Contains(err.Error(), stack.ConfigsLabel) {
			t.Errorf("catalogd serves it: %v", err)
		}
	})
}

// pushOrchard pushes an image with a catalog and returns its reference by digest.
func pushOrchard(t *testing.T, s *stack.Stack, name string, labels map[string]string) string {
	t.Helper()
	digest, err := s.PushCatalogImage(t.Context(), name+":v1", labels, orchard)
	if err != nil {
		t.Fatal(err)
	}
	return s.RegistryHost() + "/" + name + "@" + digest.String()
}
