// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/winnow-dev/winnow/test/stack"
)

const (
	clusterExtension = `
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: lemon}
spec:
  namespace: lemon
  serviceAccount: {name: lemon}
  source: {sourceType: Catalog, catalog: {packageName: lemon, version: ">=1.0.0 <2.0.0"}}
`
	clusterCatalog = `
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {name: orchard}
spec: {source: {type: Image, image: {ref: "registry.example.com/orchard:v1", pollIntervalMinutes: 5}}}
`
	subscription = `
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: lemon, namespace: default}
spec: {name: lemon, source: orchard, sourceNamespace: default}
`
	operatorGroup = `
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: lemon, namespace: default}
spec: {targetNamespaces: [default]}
`
	catalogSource = `
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: orchard, namespace: default}
spec: {sourceType: grpc, image: "registry.example.com/orchard:v1", grpcPodConfig: {extractContent: {cacheDir: /tmp/cache, catalogDir: /configs}}}
`
)

// appliesOLM checks that the API server takes what OLM's own definitions allow, and nothing else: minimal objects, of
// which a case replaces a part, and those in the golden files of the backends.
func appliesOLM(t *testing.T, s *stack.Stack, goldens string) {
	account := "  serviceAccount: {name: lemon}\n"
	// Of both releases of OLM v1, since the later one replaces the definitions of the first.
	v1 := []olmCase{
		{clusterExtension, "", "", ""},
		{clusterExtension, "packageName", "package", "package"},
		{clusterExtension, "<2.0.0", "<2.0.0 || " + strings.Repeat("1", 64), "spec.source.catalog.version"},
		{clusterExtension, "sourceType: Catalog", "sourceType: Image", "sourceType"},
		{clusterCatalog, "", "", ""},
		{clusterCatalog, "orchard:v1", "orchard", "must end with a digest or a tag"},
		{clusterCatalog, "orchard:v1", "orchard@sha256:" + strings.Repeat("1", 64), "pollIntervalMinutes"},
		{exampleOperators(t, "olm-v1"), "", "", ""},
	}
	v1 = append(v1, servedCase(t, goldens, "clustercatalog-*.yaml"))
	for _, c := range []struct {
		name    string
		release stack.OLM
		cases   []olmCase
	}{
		{"OLM v0", stack.OLMv0(), append(goldenCases(t, goldens, "subscription*", ""), []olmCase{
			{subscription, "", "", ""},
			{subscription, "source: orchard, ", "", "spec.source"},
			{operatorGroup, "", "", ""},
			{operatorGroup, "targetNamespaces", "namespaces", "namespaces"},
			{catalogSource, "", "", ""},
			servedCase(t, goldens, "default/catalogsource-*.yaml"),
			{catalogSource, "sourceType: grpc, ", "", "spec.sourceType"},
			{exampleOperators(t, "olm-v0"), "namespace: olm", "namespace: default", ""},
		}...)},
		{"the first OLM v1", stack.OLMv1First(), slices.Concat(v1, goldenCases(t, goldens, "cluster-extension*", "serviceAccount:"), []olmCase{
			{clusterExtension, account, "", "spec.serviceAccount"},
		})},
		{"OLM v1", stack.OLMv1(), slices.Concat(goldenCases(t, goldens, "cluster-extension*", ""), v1, []olmCase{
			{strings.Replace(clusterExtension, "{name: lemon}", "{name: plum}", 1), account, "", ""},
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := s.InstallOLM(t.Context(), c.release); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.cases {
				want.check(t, s)
			}
		})
	}
}

// exampleOperators returns the catalog of OLM in an overlay of the example.
func exampleOperators(t *testing.T, overlay string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../examples/operators", overlay, "platform.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// isOLM reports whether a golden file has objects of OLM.
func isOLM(name string) bool {
	return strings.HasPrefix(name, "cluster-extension") || strings.HasPrefix(name, "subscription")
}

// goldenCases returns the golden files that match a pattern. Those without a required text are refused.
func goldenCases(t *testing.T, goldens, pattern, required string) (cases []olmCase) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(goldens, pattern, "objects.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files %s: %v", pattern, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := olmCase{manifest: string(content)}
		if !strings.Contains(c.manifest, required) {
			c.refused = "spec." + strings.TrimSuffix(required, ":")
		}
		cases = append(cases, c)
	}
	return cases
}

// servedCase returns the catalog of a selection in a golden tree of the renderer.
func servedCase(t *testing.T, goldens, pattern string) olmCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(goldens, "../../testdata/golden/served-*/want/instances", pattern))
	if err != nil || len(files) != 1 {
		t.Fatalf("the golden trees have the catalogs %q: %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return olmCase{manifest: string(content)}
}

// olmCase is an object of which a part is replaced, and a part of the message with which it is refused.
type olmCase struct{ manifest, old, new, refused string }

// check waits, because the API server may serve the definitions of an earlier release for a moment longer.
func (c olmCase) check(t *testing.T, s *stack.Stack) {
	t.Helper()
	if !strings.Contains(c.manifest, c.old) {
		t.Fatalf("nothing to replace: %s", c.manifest)
	}
	manifest := strings.Replace(c.manifest, c.old, c.new, 1)
	var err error
	_ = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		err = s.Apply(ctx, []byte(manifest))
		return c.refused == "" && err == nil || c.refused != "" && err != nil && strings.Contains(err.Error(), c.refused), nil
	})
	switch {
	case c.refused == "" && err != nil:
		t.Errorf("refused: %v\n%s", err, manifest)
	case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
		t.Errorf("not refused because of %q: %v\n%s", c.refused, err, manifest)
	}
}
