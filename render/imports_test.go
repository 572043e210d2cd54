// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"os/exec"
	"strings"
	"testing"
)

// Package render is pure: what it is compiled with has no client and no controller. That
// net/http and os/exec are there, by way of the API types and of kustomize, which proves patches
// in memory, cannot be helped.
func TestRenderIsCompiledWithoutClients(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	dependencies := strings.Fields(string(output))
	if len(dependencies) < 50 {
		t.Fatalf("go list finds only %v", dependencies)
	}
	for _, path := range dependencies {
		for _, forbidden := range []string{
			"k8s.io/client-go", "sigs.k8s.io/controller-runtime", "oras.land/oras-go", "github.com/fluxcd/source-controller",
			"k8s.io/apiserver", "k8s.io/apiextensions-apiserver/pkg/apiserver",
			"github.com/fluxcd/pkg/runtime", "github.com/fluxcd/pkg/artifact", "github.com/fluxcd/pkg/http",
			"github.com/winnow-dev/winnow/controllers", "github.com/winnow-dev/winnow/cmd", "github.com/winnow-dev/winnow/test",
		} {
			if path == forbidden || strings.HasPrefix(path, forbidden+"/") {
				t.Errorf("render depends on %s", path)
			}
		}
	}
}

// What the packages of render themselves import tells more: neither clock nor environment nor
// network nor log.
func TestRenderImportsNothingImpure(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}}: {{join .Imports \" \"}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	impure := []string{"net", "net/http", "os", "log", "log/slog", "math/rand", "math/rand/v2", "crypto/rand", "os/exec", "syscall"}
	for line := range strings.Lines(string(output)) {
		importer, imports, _ := strings.Cut(strings.TrimSpace(line), ":")
		for imported := range strings.FieldsSeq(imports) {
			for _, forbidden := range impure {
				if imported == forbidden {
					t.Errorf("%s imports %s", importer, imported)
				}
			}
		}
	}
}
