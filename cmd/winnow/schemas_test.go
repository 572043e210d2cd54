// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

// What the verbs print conforms to the schemas of docs/schemas, as JSON and as YAML.
func TestDocumentsConformToTheirSchemas(t *testing.T) {
	const catalog, file = "../../examples/catalog", "../../examples/gitops/selection.yaml"
	registry := clitest.StartRegistry(t)
	edited := filepath.Join(t.TempDir(), "edited.yaml")
	clitest.WriteFile(t, edited, strings.ReplaceAll(clitest.ReadFile(t, file), "      - silver\n", ""))
	const plain, installed = "../../examples/plain-flux/catalog", "../../examples/plain-flux/base/selection.yaml"
	raised := filepath.Join(t.TempDir(), "raised.yaml")
	clitest.WriteFile(t, raised, strings.NewReplacer("~1.4", "~1.5", "unnamed", "named", "alerting", "alerts", "port: 24225", "port: null").Replace(clitest.ReadFile(t, installed)))
	lines := map[string][]string{
		"InstanceList":    {"get instances -A --kubeconfig " + clitest.ClusterConfig(t)},
		"LintReport":      {"lint " + catalog, "lint -f ../../examples/plain-flux/base", "lint " + t.TempDir(), "lint verbs/diff/testdata/before nowhere"},
		"ApplicationList": {"list " + catalog},
		"ImageList":       {"list " + catalog + " --images", "list " + plain + " --images --charts=../../examples/plain-flux/charts"},
		"DecisionList":    {"list -f " + file + " " + catalog, "list -f " + installed + " " + plain},
		"Explanation":     {"explain -f " + file + " --source " + catalog + " argocd", "explain -f " + file + " --source " + catalog + " falco"},
		"InstanceExplanation": {
			"explain -f " + raised + " --source " + plain + " --instance logs", "explain -f " + installed + " --source " + catalog + " --instance logs",
		},
		"ApplicationReport": {"show argocd --source " + catalog, "show falco --source " + catalog},
		"Diff": {
			"diff --from verbs/diff/testdata/before --to verbs/diff/testdata/after", "diff --from verbs/diff/testdata/after --to verbs/diff/testdata/before",
			"diff -f verbs/diff/testdata/edited.yaml --from-selection verbs/diff/testdata/selection.yaml --from verbs/diff/testdata/before --to verbs/diff/testdata/after",
			"diff -f " + edited + " --from-selection " + file + " --to " + catalog,
			"diff -f " + raised + " --from-selection " + installed + " --to " + plain,
		},
		"Version":     {"version"},
		"Receipt":     {"receipt berlin --kubeconfig " + clitest.ClusterConfig(t)},
		"Examination": {"doctor --kubeconfig " + clitest.ClusterConfig(t)},
		"FunctionList": {
			"functions view ../../test/clitest/testdata/functions/catalog.yaml", "functions view ../../test/clitest/testdata/functions/catalog.yaml SetLogger",
		},
		"PushResult": {"push --dry-run --plain-http " + catalog + " oci://" + registry + "/dry:v1.0.0", "push --plain-http " + catalog + " oci://" + registry + "/catalog:latest"},
	}
	for _, one := range root.Documents() {
		content, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		var head output.Document
		if err := json.Unmarshal(content, &head); err != nil || head.APIVersion == "" {
			t.Fatalf("%s has no kind: %v", content, err)
		}
		if len(lines[head.Kind]) == 0 && head.Kind != "Fleet" { // TestReceiptsThatAreWrongAreNamed has one
			t.Errorf("no command line prints a %s here", head.Kind)
		}
		for _, line := range lines[head.Kind] {
			for _, format := range []string{output.FormatJSON, output.FormatYAML} {
				t.Run(line+" -o "+format, func(t *testing.T) { conforms(t, head, line+" -o "+format) })
			}
		}
	}
}

// conforms runs the command line as scripts do, without the race detector, which makes charts ten times as expensive.
func conforms(t *testing.T, head output.Document, line string) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "winnow", strings.Fields(line)...)
	cmd.Stderr = &stderr
	stdout, _ := cmd.Output() // findings and differences end with an exit code
	var printed map[string]any
	if err := yaml.Unmarshal(stdout, &printed); err != nil || len(printed) == 0 {
		t.Fatalf("no document: %v, %s", err, stderr.String())
	}
	if printed["kind"] != head.Kind || printed["apiVersion"] != head.APIVersion {
		t.Errorf("it is a %v of %v", printed["kind"], printed["apiVersion"])
	}
	for _, violation := range validation.ValidateCustomResource(nil, printed, clitest.ClosedSchema(t, head.Kind)) {
		t.Error(violation)
	}
}
