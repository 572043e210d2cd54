// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package stack_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/test/stack"
)

const exampleCharts = "examples/plain-flux/charts"

func TestHelmController(t *testing.T) {
	s := start(t, stack.Options{Registry: true, SourceController: true, HelmController: true})
	t.Run("the same chart has the same digest", func(t *testing.T) { pushesChartAgain(t, s) })
	if err := s.PushCharts(t.Context(), exampleCharts, "charts"); err != nil {
		t.Fatal(err)
	}
	t.Run("installs every chart of the example", func(t *testing.T) { installsCharts(t, s) })
	t.Run("upgrades", func(t *testing.T) { upgradesChart(t, s) })
}

func pushesChartAgain(t *testing.T, s *stack.Stack) {
	const dir = exampleCharts + "/trust-bundle/1.0.0"
	first, err := s.PushChart(t.Context(), dir, "charts")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := s.PushChart(t.Context(), dir, "charts"); err != nil || second != first {
		t.Errorf("the same chart has the digests %s and %s: %v", first, second, err)
	}
}

func installsCharts(t *testing.T, s *stack.Stack) {
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	charts, err := filepath.Glob(filepath.Join(root, exampleCharts, "*", "*", "Chart.yaml"))
	if err != nil || len(charts) == 0 {
		t.Fatalf("no charts: %v", err)
	}
	installed := map[string]string{}
	for _, file := range charts {
		dir, version := filepath.Split(filepath.Dir(file))
		chart := filepath.Base(dir)
		release := fmt.Sprintf("all-%s-%d", chart, len(installed))
		applyRelease(t, s, release, chart, version)
		installed[release] = version
	}
	for release, version := range installed {
		awaitRelease(t, s, release, version)
	}
}

func upgradesChart(t *testing.T, s *stack.Stack) {
	rules := &corev1.ConfigMap{}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		applyRelease(t, s, "rules", "alert-rules", version)
		awaitRelease(t, s, "rules", version)
		if err := s.Client().Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "rules"}, rules); err != nil {
			t.Fatal(err)
		}
		has := strings.Contains(rules.Data["rules.yaml"], "DiskFills")
		if want := version == "1.1.0"; has != want || !strings.Contains(rules.Data["rules.yaml"], "cluster: edge") {
			t.Errorf("version %s has installed\n%s", version, rules.Data["rules.yaml"])
		}
	}
}

// applyRelease applies a release of a chart in the local registry, and its source, with values for any of the charts.
func applyRelease(t *testing.T, s *stack.Stack, release, chart, version string) {
	t.Helper()
	manifests := fmt.Sprintf(`
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: %[1]s, namespace: flux-system}
spec:
  interval: 1h
  url: oci://%[2]s/charts/%[3]s
  insecure: true
  ref: {tag: %[4]s}
  layerSelector: {mediaType: %[5]s, operation: copy}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %[1]s, namespace: flux-system}
spec:
  interval: 1h
  chartRef: {kind: OCIRepository, name: %[1]s}
  releaseName: %[1]s
  targetNamespace: default
  values:
    cluster: edge
    output: {host: logs.example.com}
`, release, s.RegistryHost(), chart, strings.ReplaceAll(version, "+", "_"), stack.ChartLayerMediaType)
	if err := s.Apply(t.Context(), []byte(manifests)); err != nil {
		t.Fatal(err)
	}
}

// awaitRelease waits until this version of a release is installed.
func awaitRelease(t *testing.T, s *stack.Stack, name, version string) {
	t.Helper()
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"})
	eventually(t, fmt.Sprintf("version %s of release %s is installed", version, name), func(ctx context.Context) error {
		if err := s.Client().Get(ctx, client.ObjectKey{Namespace: stack.FluxNamespace, Name: name}, release); err != nil {
			return err
		}
		history, _, err := unstructured.NestedSlice(release.Object, "status", "history")
		if err == nil && len(history) > 0 {
			last, _ := history[0].(map[string]any)
			installed, _ := last["chartVersion"].(string)
			if withoutBuild(installed) == withoutBuild(version) && last["status"] == "deployed" {
				return nil
			}
		}
		return fmt.Errorf("status: %v", release.Object["status"])
	})
}

// withoutBuild returns a version without its build metadata, which helm-controller replaces by a part of the digest.
func withoutBuild(version string) string {
	version, _, _ = strings.Cut(version, "+")
	return version
}
