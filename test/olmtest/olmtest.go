// SPDX-License-Identifier: Apache-2.0

// Package olmtest is what tests of OLM's catalogs share: opm and catalogd where they are built, and blobs in a form
// that can be compared. It must not know the code of Winnow.
package olmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/test/stack"
)

// Opm is the reference for file-based catalogs, with a home directory of its own.
type Opm struct{ path, home string }

// Need skips the test unless opm, catalogd and operator-controller are built, which `make e2e-olm` does.
func Need(t *testing.T) Opm {
	t.Helper()
	path, err := stack.BuiltOpm(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	built, err := stack.OLMIsBuilt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if path == "" || !built {
		t.Skip("skipped: opm, catalogd or operator-controller is not built: make e2e-olm")
	}
	o := Opm{path: path, home: t.TempDir()}
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

// Validate fails the test if opm refuses the catalog in a directory.
func (o Opm) Validate(t *testing.T, dir string) {
	t.Helper()
	o.run(t, "validate", dir)
}

// Render returns what opm reads in a directory, or in an image of a registry without TLS, as Blobs does.
func (o Opm) Render(t *testing.T, dirOrImage string) []string {
	t.Helper()
	return Blobs(t, o.run(t, "render", "--use-http", dirOrImage))
}

func (o Opm) run(t *testing.T, args ...string) []byte {
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

// Blobs returns the JSON objects of a stream in one form, sorted.
func Blobs(t *testing.T, stream []byte) (found []string) {
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

// ApplyCatalog applies a ClusterCatalog of an image.
func ApplyCatalog(t *testing.T, s *stack.Stack, name, image string) {
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

// Bundles returns the names of the bundles in blobs, sorted.
func Bundles(t *testing.T, blobs []string) (names []string) {
	t.Helper()
	for _, content := range blobs {
		var blob struct{ Schema, Name string }
		if err := json.Unmarshal([]byte(content), &blob); err != nil {
			t.Fatal(err)
		}
		if blob.Schema == "olm.bundle" {
			names = append(names, blob.Name)
		}
	}
	slices.Sort(names)
	return names
}
