// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The packages of the API server for --crds make the command line a third larger, and those of Helm for --charts another
// third. The controller must not import them: it uses the real API server, and renders no chart.
func TestControllerIsCompiledWithoutAPIServerAndHelm(t *testing.T) {
	refuse(t, "../winnow-controller", "k8s.io/apiserver", "k8s.io/apiextensions-apiserver/pkg/apiserver", "helm.sh/helm", "helm.sh/helm/v4",
		"github.com/winnow-dev/winnow/cmd/winnow/crds", "github.com/winnow-dev/winnow/cmd/winnow/charts")
}

// The command line reads a cluster without types. Those of all built-in kinds come with Helm, whose templates ask which there
// are, and with nothing else.
func TestCommandLineReadsClustersWithoutBuiltInKinds(t *testing.T) {
	refuse(t, ".", "sigs.k8s.io/controller-runtime/pkg/client")
	refuse(t, "./live", "k8s.io/client-go/kubernetes", "k8s.io/client-go/discovery")
}

// own is the prefix of the packages of this module.
const own = "github.com/winnow-dev/winnow/"

// What previews a render needs nothing that compares, lints, or reads a cluster.
func TestARenderNeedsNothingThatCompares(t *testing.T) {
	all := refuse(t, "./verbs/render", own+"cmd/winnow/gitops", own+"cmd/winnow/charts", own+"cmd/winnow/live", own+"cmd/winnow/receipt",
		own+"render/diff", own+"render/lint")
	const most = 75
	if n := len(slices.DeleteFunc(all, func(path string) bool { return !strings.HasPrefix(path, own) })); n > most {
		t.Errorf("winnow render needs %d packages of this module, at most %d", n, most)
	}
}

// A change is the same whatever it comes from, and however it is shown: producers know no view, a view knows no producer, and the
// comparison knows neither.
func TestAComparisonKnowsNoProducerAndNoView(t *testing.T) {
	refuse(t, "../../render/diff/comparing", own+"cmd", own+"registry", "github.com/spf13/cobra", "oras.land/oras-go/v2", "sigs.k8s.io/controller-runtime")
	for _, producer := range []string{"./gitops/selections", "./live", "./charts/comparison"} {
		refuse(t, producer, own+"cmd/winnow/diffview", own+"cmd/winnow/verbs", own+"cmd/winnow/flags")
	}
	refuse(t, "./diffview", own+"render/diff/comparing", own+"cmd/winnow/gitops", own+"cmd/winnow/live", own+"cmd/winnow/charts", own+"cmd/winnow/verbs")
	refuse(t, "./input", own+"cmd/winnow/gitops", own+"render/diff")
}

// refuse checks that a program depends on none of these packages, nor on one below them. It returns what it depends on.
func refuse(t *testing.T, program string, forbidden ...string) []string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	dependencies := strings.Fields(string(output))
	if len(dependencies) < 50 {
		t.Fatalf("go list finds only %v", dependencies)
	}
	for _, path := range dependencies {
		for _, one := range forbidden {
			if path == one || strings.HasPrefix(path, one+"/") {
				t.Errorf("%s depends on %s", program, path)
			}
		}
	}
	return dependencies
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
