// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
)

// winnow pull and winnow push preserve the files and the layer, and the digest only with the same
// annotations.
func TestPushingWhatWasPulled(t *testing.T) {
	server := httptest.NewServer(&fakeRegistry{manifests: map[string]blob{}, blobs: map[string][]byte{}})
	t.Cleanup(server.Close)
	host := "oci://" + strings.TrimPrefix(server.URL, "http://")
	push := func(dir, name string, annotations ...string) (digest, layer string) {
		t.Helper()
		arguments := append([]string{"push", dir, host + name + ":v1", "--plain-http"}, annotations...)
		pushed := execute(t.Context(), arguments...)
		if pushed.code != root.ExitOK {
			t.Fatal(pushed.stderr)
		}
		_, digest, _ = strings.Cut(strings.TrimSpace(pushed.stdout), "@")
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
	digest, layer := push("../../examples/catalog", "/first", "--annotation", "a=b")
	copied := filepath.Join(t.TempDir(), "copy")
	if pulled := execute(t.Context(), "pull", host+"/first:v1", "-o", copied, "--plain-http"); pulled.code != root.ExitOK {
		t.Fatal(pulled.stderr)
	}
	without, same := push(copied, "/without")
	if without == digest || same != layer {
		t.Error("without the annotations, want the same layer and another digest")
	}
	if with, _ := push(copied, "/with", "--annotation", "a=b"); with != digest {
		t.Errorf("with the annotations, the digest is %s, want %s", with, digest)
	}
}
