// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/cel"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/clitest"
)

const (
	operatorsGuide   = "../../docs/guides/operators.md"
	operatorsExample = "../../examples/operators"
)

// operatorsStandIns let kubectl print what kustomize builds, and winnow push to a registry without TLS.
const operatorsStandIns = `
git() { echo https://github.com/org/catalog; }
kubectl() { if [ "$1" = kustomize ]; then cat "$2.built"; fi; }
winnow() { verb=$1; shift; if [ "$verb" = push ]; then set -- --plain-http "$@"; fi; command winnow "$verb" "$@"; }
`

// The commands of the guide work on a copy of the example, and print what the guide shows.
func TestOperatorsGuideRuns(t *testing.T) {
	registry, guide := clitest.StartRegistry(t), clitest.ReadFile(t, operatorsGuide)
	dir := copyExample(t, operatorsExample)
	overlay := overlaidOperators(t, "olm-v1")
	clitest.WriteFile(t, filepath.Join(dir, "olm-v1.built"), overlay)
	commands := strings.ReplaceAll(guide, "oci://registry.example.com", "oci://"+registry)
	printed := runBlocks(t, commands, dir, operatorsStandIns)
	assertPrinted(t, printed, "0 errors, 0 warnings in 5 applications\n", "0 errors, 0 warnings in 1 selection\n",
		"2 of its 6 versions stay\n", "rendered 3 of 5 applications, 2 instances", "pushed 3 packages with 8 bundles")

	// The notes on a package that OLM v1 does not install.
	courier := filepath.Join(dir, "courier.yaml")
	clitest.WriteFile(t, courier, strings.NewReplacer("application: ledger-operator", "application: courier", "~2.1", "^3").Replace(overlay))
	explained := clitest.Execute(t.Context(), "explain", "-f", courier, "--source", filepath.Join(dir, "catalog"), "--instance", "ledger")
	blocks := consoleBlock.FindAllStringSubmatch(guide, -1)
	for _, block := range blocks {
		for part := range strings.SplitSeq(block[1], "...\n") {
			assertPrinted(t, printed+explained.Stdout, part)
		}
	}
	if len(blocks) != 3 {
		t.Errorf("the guide shows %d outputs", len(blocks))
	}
}

func TestOperatorsGuideShowsTheExample(t *testing.T) {
	shown := 0
	for _, block := range yamlBlock.FindAllStringSubmatch(clitest.ReadFile(t, operatorsGuide), -1) {
		if showsExample(t, operatorsExample, block[1]) {
			shown++
			continue
		}
		head, lines, _ := strings.Cut(block[1], "\n")
		into := map[string]any{
			"# instead of url and ref in base/catalog.yaml": &sourcev1.OCIRepository{},
			"# below spec in base/selection.yaml":           &v1alpha1.CatalogSelection{},
		}[head]
		if into == nil {
			t.Fatalf("a block is of no file:\n%s", block[1])
		}
		if err := yaml.UnmarshalStrict([]byte("spec:\n"+lines), into); err != nil {
			t.Errorf("%v:\n%s", err, block[1])
		}
	}
	if shown != 10 {
		t.Errorf("the guide shows %d parts of the example", shown)
	}
}

// The Kustomization of an overlay waits until OLM reports that it has installed what an object asks for.
func TestOperatorsExampleWaitsForOLM(t *testing.T) {
	for _, test := range []struct{ name, overlay, status, want string }{
		{"a ClusterExtension is installed", "olm-v1", `conditions: [{type: Progressing, status: "True", reason: Succeeded, observedGeneration: 2}]`, "Current"},
		{"of the last generation", "olm-v1", `conditions: [{type: Progressing, status: "True", reason: Succeeded, observedGeneration: 1}]`, "InProgress"},
		{"is tried again", "olm-v1", `conditions: [{type: Progressing, status: "True", reason: Retrying, observedGeneration: 2}]`, "InProgress"},
		{"is blocked", "olm-v1", `conditions: [{type: Progressing, status: "False", reason: Blocked, observedGeneration: 2}]`, "Failed"},
		{"a Subscription is installed", "olm-v0", `state: AtLatestKnown`, "Current"},
		{"is upgrading", "olm-v0", `{state: UpgradePending, conditions: []}`, "InProgress"},
		{"is not resolved", "olm-v0", `{state: AtLatestKnown, conditions: [{type: ResolutionFailed, status: "True"}]}`, "Failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"generation": int64(2)}}}
			status := map[string]any{}
			if err := yaml.Unmarshal([]byte(test.status), &status); err != nil {
				t.Fatal(err)
			}
			object.Object["status"] = status
			expressions := operatorsKustomization(t, test.overlay).Spec.HealthCheckExprs[0].HealthCheckExpressions
			evaluator, err := cel.NewStatusEvaluator(&expressions)
			if err != nil {
				t.Fatal(err)
			}
			got, err := evaluator.Evaluate(t.Context(), object)
			if err != nil || string(got.Status) != test.want {
				t.Errorf("it is %v, want %s: %v", got, test.want, err)
			}
		})
	}
}

// overlaidOperators returns the objects of an overlay of the example.
func overlaidOperators(t *testing.T, overlay string) string {
	t.Helper()
	dir := filepath.Join(operatorsExample, overlay)
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func operatorsKustomization(t *testing.T, overlay string) *kustomizev1.Kustomization {
	t.Helper()
	for text := range strings.SplitSeq(overlaidOperators(t, overlay), "---\n") {
		ks := &kustomizev1.Kustomization{}
		if strings.Contains(text, "\nkind: Kustomization\n") {
			if err := yaml.UnmarshalStrict([]byte(text), ks); err != nil {
				t.Fatal(err)
			}
			return ks
		}
	}
	t.Fatalf("%s has no Kustomization", overlay)
	return nil
}
