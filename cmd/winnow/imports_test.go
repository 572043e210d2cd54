package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The packages of the API server for --crds make the command line a third larger. The controller must
// not import them: it uses the real API server.
func TestControllerIsCompiledWithoutAPIServer(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "../winnow-controller").Output()
	if err != nil {
		t.Fatal(err)
	}
	dependencies := strings.Fields(string(output))
	if len(dependencies) < 50 {
		t.Fatalf("go list finds only %v", dependencies)
	}
	for _, path := range dependencies {
		for _, forbidden := range []string{
			"k8s.io/apiserver", "k8s.io/apiextensions-apiserver/pkg/apiserver", "github.com/winnow-dev/winnow/cmd/winnow/crds",
		} {
			if path == forbidden || strings.HasPrefix(path, forbidden+"/") {
				t.Errorf("winnow-controller depends on %s", path)
			}
		}
	}
}

// The expressions of selections and the rules of CustomResourceDefinitions run on the same CEL
// engine, whose module has had two names.
func TestThereIsOneCELEngine(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	var engines []string
	for path := range strings.FieldsSeq(string(output)) {
		if strings.HasSuffix(path, "/cel-go/cel") {
			engines = append(engines, path)
		}
	}
	if len(engines) != 1 {
		t.Errorf("winnow depends on the CEL engines %v, want one", engines)
	}
}
