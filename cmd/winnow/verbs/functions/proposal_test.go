// SPDX-License-Identifier: Apache-2.0

package functions_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

const (
	notACatalog = ": expected Catalog, KRMFunctionCatalog or KRMFunctionDefinition of config.kubernetes.io/v1alpha1"
	composition = "is a Composition, which kustomize does not build: write each of its modules as a config that a kustomization names in transformers"
	kustomized  = "is a Kustomization: winnow functions resolve reads its directory"
)

// oneFunction returns a catalog of a function as the proposal writes it.
func oneFunction(group, kind, runtime string) string {
	return "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nmetadata: \n  name: \"functions\"\nspec: \n  krmFunctions: \n" + anotherFunction(group, kind, runtime)
}

func anotherFunction(group, kind, runtime string) string {
	return "  - group: " + group + "\n    names:\n      kind: " + kind + "\n    description: \"A function\"\n    versions:\n    - name: v1\n    runtime: \n      " +
		strings.ReplaceAll(runtime, "\n", "\n      ") + "\n"
}

func imageOf(name string) string { return "container: \n  image:  " + name }

// functionReference is the catalog with all fields of the proposal, which has placeholders as values.
const functionReference = `apiVersion: config.kubernetes.io/v1alpha1
kind: Catalog
metadata:
  name: "functions"
  labels:
    author: Someone
spec:
  krmFunctions:
  - group: e.com
    names:
      kind: SetNamespace
    description: "A function"
    publisher: e.com
    versions:
      - name: v1
        schema:
          openAPIV3Schema: ... # inline
        idempotent: true|false
        runtime:
          container:
            image: e.com/set-namespace:v1
            sha256: a428de... # required
            requireNetwork: true|false
        usage: <a URL>
        examples:
          - <a URL>
        license: Apache 2.0
    maintainers: # of the function
      - a@e.com
    tags:
      - mutator
  - group: e.com
    kind: SetLogger
    description: "A function"
    publisher: e.com
    versions:
      - name: v1
        idempotent: true
        runtime:
          exec:
            platforms:
              - bin: foo-amd64-linux
                os: linux
                arch: amd64
                uri: https://e.com/foo-amd64-linux.tar.gz
                sha256: <hash>
    home: <a URL>
`

// proposal has each example of KEP-2906 in its order, by its shape: what view shows of it, or the reason why not.
var proposal = []struct {
	name, text string
	// shown are parts of stdout, and reasons of stderr.
	shown, reasons []string
}{
	{"a config with an image of its own", "apiVersion: team.e.com/v1alpha1\nkind: LoadBalancer\nmetadata:\n  name: lb\n  annotations:\n    config.kubernetes.io/function: |\n      container:\n        image: e.com/lb:v0.1.1\n", nil, []string{notACatalog}},
	{"a kustomization", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n\ntransformers:\n- lb.yaml\n", nil, []string{kustomized}},
	{"a Composition with a runtime", "# a\nkind: Composition\n\nmodules:\n- apiVersion: e.com/v1\n  kind: A\n  runtime: {container: {image: e.com/a:v1}}\n", nil, []string{composition}},
	{"a minimal catalog", oneFunction("e.com", "JavaApplication", imageOf("e.com/java:v1.0.0")), []string{"JavaApplication.e"}, nil},
	{"a kustomization that names a catalog", "# a\nkind: Kustomization\ncatalogs:\n  - catalog.yaml\ntransformers:\n- java.yaml\n", nil, []string{kustomized}},
	{"a config without a runtime", "# a\napiVersion: e.com/v1\nkind: JavaApplication\nspec:\n  version: v1.0\n", nil, []string{`is "JavaApplication" of `, notACatalog}},
	{"a script of Starlark", oneFunction("e.com", "GroovyApplication", "starlark: https://e.com/script:v1.0.0"), nil, []string{" is remote and has no sha256: its server decides what runs; kustomize does not run Starlark any more: publish the function as an image"}},
	{"story 1: a catalog of three functions", oneFunction("e.com", "JavaApplication", imageOf("e.com/java:v1")) + anotherFunction("e.com", "Logger", imageOf("e.com/logger:v1")) + anotherFunction("e.com", "SecretSidecar", imageOf("e.com/secrets:v1")), []string{"JavaApplication.e", "Logger.e", "SecretSidecar.e"}, nil},
	{"story 2: the kustomization", "# a\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\ncatalogs:\n  - catalog.yaml\ntransformers:\n- java.yaml\n- secrets.yaml\n", nil, []string{kustomized}},
	{"story 2: a config", "# a\napiVersion: e.com/v1\nkind: JavaApplication\nspec:\n  version: v1.0\n", nil, []string{`is "JavaApplication" of `, notACatalog}},
	{"story 2: another config", "# a\napiVersion: e.com/v1\nkind: SecretSidecar\nspec:\n  key: a\n", nil, []string{`is "SecretSidecar" of `, notACatalog}},
	{"story 3: a Composition that names a catalog", "# a\nkind: Composition\ncatalogs:\n  - https://e.com/catalog.yaml\nmodules:\n- apiVersion: e.com/v1\n  kind: A\n", nil, []string{composition}},
	{"story 4: a Composition alone", "# a\nkind: Composition\nmodules:\n- apiVersion: e.com/v1\n  kind: A\n", nil, []string{composition}},
	{"story 5: an official catalog", oneFunction("k.io", "Helm", imageOf("k.io/helm:v1.0.0")), []string{"Helm.k"}, nil},
	{"story 6: with a function of another publisher", oneFunction("k.io", "Helm", imageOf("k.io/helm:v1.0.0")) + anotherFunction("e.com", "McGuffin", imageOf("e.com/mcguffin:v1.0.0")), []string{"Helm.k", "McGuffin.e"}, nil},
	{"story 7: functions of several publishers", oneFunction("b.co", "Split", imageOf("b.co/split:v1")) + anotherFunction("w.co", "Salt", imageOf("w.co/salt:v1")) + anotherFunction("e.com", "JavaApplication", imageOf("java:v1")+"\n  requireNetwork: true\n  requireFilesystem: true"), []string{"Split.b", "Salt.w", "network, storage"}, nil},
	{"the schema of the kinds", "swagger: \"2.0\"\ninfo:\n  title: Functions\npaths: {}\n", nil, []string{"has neither apiVersion nor kind" + notACatalog}},
	{"all fields, with dots in places of YAML", strings.Replace(functionReference, "    maintainers: #", "      - name: v1beta1\n        ...\n    maintainers: #", 1), nil, []string{"is not valid YAML: could not find expected ':'"}},
}

func TestExamplesOfTheProposal(t *testing.T) {
	for _, test := range proposal {
		t.Run(test.name, func(t *testing.T) { viewProposed(t, test.text, test.shown, test.reasons) })
	}
	t.Run("all fields, with placeholders", func(t *testing.T) {
		viewProposed(t, functionReference, nil, []string{
			":17: openAPIV3Schema must be a mapping, not a string", ":18: idempotent must be true or false, not a string",
			":22: sha256 \"a428de...\" is malformed", ":23: requireNetwork must be true or false, not a string", ":46: sha256 \"<hash>\" is malformed",
		})
	})
	t.Run("all fields, filled in", func(t *testing.T) {
		digest := strings.Repeat("0a", 32)
		viewProposed(t, strings.NewReplacer("a428de...", digest, "<hash>", digest, "...", "{type: object}", "true|false", "true").Replace(functionReference),
			[]string{"SetNamespace.e.com  v1       e.com      container e.com/set-namespace:v1  network  yes", "SetLogger.e.com     v1       e.com      exec linux/amd64 "}, nil)
	})
}

// The examples themselves, where the document is there, are answered in the same way.
func TestExamplesInTheDocumentOfTheProposal(t *testing.T) {
	dir := os.Getenv("WINNOW_TEST_PROPOSALS")
	if dir == "" {
		dir = "../../../../../shared/seeds"
	}
	document := filepath.Join(dir, "kep-2906-function-catalog.md")
	if _, err := os.Stat(document); err != nil {
		t.Skipf("no document of the proposal in %s; WINNOW_TEST_PROPOSALS names another directory", dir)
	}
	blocks := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```").FindAllStringSubmatch(clitest.ReadFile(t, document), -1)
	if len(blocks) != len(proposal) {
		t.Fatalf("the document has %d examples, and %d are known", len(blocks), len(proposal))
	}
	for i, test := range proposal {
		t.Run(test.name, func(t *testing.T) { viewProposed(t, blocks[i][1], test.shown, test.reasons) })
	}
}

// viewProposed views a text, which is shown, or answered with reasons.
func viewProposed(t *testing.T, text string, shown, reasons []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "example.yaml")
	clitest.WriteFile(t, file, text)
	got := clitest.Execute(t.Context(), "functions", "view", file, "-q")
	want := root.ExitOK
	if len(reasons) > 0 {
		want = root.ExitFindings
	}
	if got.Code != want {
		t.Errorf("exit code %d, want %d\n%s%s", got.Code, want, got.Stdout, got.Stderr)
	}
	for _, part := range shown {
		if !strings.Contains(got.Stdout, part) {
			t.Errorf("no %q in\n%s", part, got.Stdout)
		}
	}
	for _, part := range reasons {
		if !strings.Contains(got.Stderr, part) {
			t.Errorf("no %q in\n%s", part, got.Stderr)
		}
	}
}
