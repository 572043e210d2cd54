//go:build e2e

package stack_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/test/stack"
)

const orchard = "render/catalog/filebased/testdata/orchard"

// `make e2e-olm` builds what this test needs.
func TestOLMServesCatalogImages(t *testing.T) {
	opm := needOLM(t)
	s := start(t, stack.Options{Registry: true})
	catalogd, err := s.StartCatalogd(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	image := pushOrchard(t, s, "orchard", map[string]string{stack.ConfigsLabel: "/configs"})
	if again := pushOrchard(t, s, "orchard", map[string]string{stack.ConfigsLabel: "/configs"}); again != image {
		t.Errorf("the same catalog is %s and %s", image, again)
	}
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	opm.run(t, "validate", filepath.Join(root, orchard))
	want := blobs(t, opm.run(t, "render", filepath.Join(root, orchard)))

	t.Run("catalogd", func(t *testing.T) {
		applyCatalog(t, s, "orchard", image)
		served, err := catalogd.Served(t.Context(), "orchard")
		if err != nil {
			t.Fatal(err)
		}
		if got := blobs(t, served); !slices.Equal(got, want) {
			t.Errorf("catalogd serves\n%s\nbut the image has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	t.Run("opm", func(t *testing.T) {
		if got := blobs(t, opm.run(t, "render", "--use-http", image)); !slices.Equal(got, want) {
			t.Errorf("opm renders\n%s\nbut the image has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	t.Run("an image without the label", func(t *testing.T) {
		applyCatalog(t, s, "plain", pushOrchard(t, s, "plain", nil))
		if _, err := catalogd.Served(t.Context(), "plain"); err == nil || !strings.Contains(err.Error(), stack.ConfigsLabel) {
			t.Errorf("catalogd serves it: %v", err)
		}
	})
}

// pushOrchard pushes an image with a catalog and returns its reference by digest.
func pushOrchard(t *testing.T, s *stack.Stack, name string, labels map[string]string) string {
	t.Helper()
	digest, err := s.PushCatalogImage(t.Context(), orchard, name+":v1", labels)
	if err != nil {
		t.Fatal(err)
	}
	return s.RegistryHost() + "/" + name + "@" + digest.String()
}

// applyCatalog applies a ClusterCatalog of an image.
func applyCatalog(t *testing.T, s *stack.Stack, name, image string) {
	t.Helper()
	manifest := fmt.Sprintf(`
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {name: %s}
spec: {source: {type: Image, image: {ref: %q}}}
`, name, image)
	if err := s.Apply(t.Context(), []byte(manifest)); err != nil {
		t.Fatal(err)
	}
}

// opm is the reference for file-based catalogs, with a home directory of its own.
type opm struct{ path, home string }

// needOLM skips the test unless catalogd and opm are built.
func needOLM(t *testing.T) opm {
	t.Helper()
	path, err := stack.BuiltOpm(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	built, err := stack.CatalogdIsBuilt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if path == "" || !built {
		t.Skip("skipped: opm or catalogd is not built: make e2e-olm")
	}
	o := opm{path: path, home: t.TempDir()}
	// Without a policy opm pulls no image.
	dir := filepath.Join(o.home, ".config/containers")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "policy.json"), []byte(`{"default": [{"type": "insecureAcceptAnything"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o opm) run(t *testing.T, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), o.path, args...)
	command.Env = append(os.Environ(), "HOME="+o.home)
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("opm %v: %v\n%s", args, err, &stderr)
	}
	return output
}

// blobs returns the JSON objects of a stream in one form, sorted.
func blobs(t *testing.T, stream []byte) (found []string) {
	t.Helper()
	for decoder := json.NewDecoder(bytes.NewReader(stream)); decoder.More(); {
		var blob map[string]any
		if err := decoder.Decode(&blob); err != nil {
			t.Fatal(err)
		}
		if blob["image"] == "" { // what opm renders of a bundle without an image
			delete(blob, "image")
		}
		content, err := json.Marshal(blob)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, string(content))
	}
	if len(found) == 0 {
		t.Fatal("there are no blobs")
	}
	slices.Sort(found)
	return found
}
