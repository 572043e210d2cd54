// SPDX-License-Identifier: Apache-2.0

package pull_test

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

// winnow pull and winnow push preserve the files and the layer, and the digest only with the same
// annotations.
func TestPushingWhatWasPulled(t *testing.T) {
	server := httptest.NewServer(clitest.EmptyRegistry())
	t.Cleanup(server.Close)
	host := "oci://" + strings.TrimPrefix(server.URL, "http://")
	push := func(dir, name string, annotations ...string) (digest, layer string) {
		t.Helper()
		arguments := append([]string{"push", dir, host + name + ":v1", "--plain-http"}, annotations...)
		pushed := clitest.Execute(t.Context(), arguments...)
		if pushed.Code != root.ExitOK {
			t.Fatal(pushed.Stderr)
		}
		_, digest, _ = strings.Cut(strings.TrimSpace(pushed.Stdout), "@")
		reference, err := oci.ParseReference(host + name + ":v1")
		if err != nil {
			t.Fatal(err)
		}
		repository, err := oci.Connect(reference, oci.Access{PlainHTTP: func(string) bool { return true }}, nil)
		if err != nil {
			t.Fatal(err)
		}
		pulled, err := repository.Pull(t.Context(), "Auto")
		if err != nil {
			t.Fatal(err)
		}
		return digest, string(pulled.Layer)
	}
	digest, layer := push("../../../../examples/catalog", "/first", "--annotation", "a=b")
	copied := filepath.Join(t.TempDir(), "copy")
	if pulled := clitest.Execute(t.Context(), "pull", host+"/first:v1", "-o", copied, "--plain-http"); pulled.Code != root.ExitOK {
		t.Fatal(pulled.Stderr)
	}
	without, same := push(copied, "/without")
	if without == digest || same != layer {
		t.Error("without the annotations, want the same layer and another digest")
	}
	if with, _ := push(copied, "/with", "--annotation", "a=b"); with != digest {
		t.Errorf("with the annotations, the digest is %s, want %s", with, digest)
	}
}

// A registry client that pushes a directory at a time gives the named lists a layer of their own, which nobody reads.
func TestAnIgnoredLayerOfListsIsANote(t *testing.T) {
	server := httptest.NewServer(clitest.EmptyRegistry())
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://") + "/catalog"
	if pushed := clitest.Execute(t.Context(), "push", "../../../../examples/catalog", "oci://"+address+":one", "--plain-http"); pushed.Code != root.ExitOK {
		t.Fatal(pushed.Stderr)
	}
	repository, err := remote.NewRepository(address)
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	_, raw, err := oras.FetchBytes(t.Context(), repository, "one", oras.DefaultFetchBytesOptions)
	if err != nil {
		t.Fatal(err)
	}
	var manifest v1.Manifest
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	lists := content.NewDescriptorFromBytes(v1.MediaTypeImageLayerGzip, []byte("lists"))
	if err := repository.Push(t.Context(), lists, strings.NewReader("lists")); err != nil {
		t.Fatal(err)
	}
	lists.Annotations = map[string]string{v1.AnnotationTitle: "catalogs"}
	manifest.Layers = append(manifest.Layers, lists)
	if raw, err = json.Marshal(manifest); err != nil {
		t.Fatal(err)
	}
	if _, err := oras.TagBytes(t.Context(), repository, v1.MediaTypeImageManifest, raw, "two"); err != nil {
		t.Fatal(err)
	}
	for tag, noted := range map[string]bool{"one": false, "two": true} {
		for verb, arguments := range map[string][]string{
			"pull":   {"pull", "oci://" + address + ":" + tag, "-o", filepath.Join(t.TempDir(), "copy")},
			"render": {"render", "-f", "../../../../examples/gitops/selection.yaml", "--source", "oci://" + address + ":" + tag, "-o", filepath.Join(t.TempDir(), "tree")},
		} {
			got := clitest.Execute(t.Context(), append(arguments, "--plain-http")...)
			if got.Code != root.ExitOK || strings.Contains(got.Stderr, "the layer catalogs is ignored") != noted {
				t.Errorf("%s of %s: %d\n%s", verb, tag, got.Code, got.Stderr)
			}
		}
	}
}
