// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// runningReleases are the sources of charts, and a release with the default values of the definition.
const runningReleases = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: ours, namespace: takeover}
spec:
  interval: 1h
  url: oci://HOST/takeover-charts/dashboards
  insecure: true
  ref: {tag: 1.4.0}
  layerSelector: {mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip, operation: copy}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: takeover}
spec: {interval: 1h, type: oci, insecure: true, url: "oci://HOST/takeover-charts"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: dashboards, namespace: takeover}
spec:
  interval: 1h
  chartRef: {kind: OCIRepository, name: ours}
  targetNamespace: takeover-apps
  maxHistory: 7
  values: {dashboards: [nodes, workloads], refresh: 30s}
`

// appliedRelease is one of a chart of a HelmRepository with a range, whose release has a name of its own.
const appliedRelease = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: alerts
  namespace: takeover
  annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}
spec:
  interval: 1h
  dependsOn: [{name: dashboards}]
  chart: {spec: {chart: alert-rules, version: "~1.0", sourceRef: {kind: HelmRepository, name: charts}}}
  releaseName: own-name
  targetNamespace: takeover-apps
  storageNamespace: takeover-apps
  upgrade: {remediation: {retries: 2}}
  values: {cluster: edge, severity: critical}
`

const takeoverSelection = `
apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: takeover, namespace: takeover}
spec:
  interval: 1h
  sources: [{name: takeover}]
  definitions: Omit
  deletionPolicy: Delete
  mirrors:
  - {from: charts.example.org/platform, to: "HOST/takeover-charts", helm: {plainHTTP: true}}
`

// What somebody has installed by hand becomes instances of a selection, and the same releases of Helm go on.
func TestTakesOverReleases(t *testing.T) {
	useHelmSystem(t)
	s := &scenario{t: t, name: "takeover"}
	s.selection = &v1alpha1.CatalogSelection{ObjectMeta: s.metaOf(s.name)}
	for _, name := range []string{s.name, "takeover-apps"} {
		s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	s.pushDir("v1", filepath.Join(system.root, "examples/plain-flux/catalog"))
	if err := system.PushCharts(t.Context(), "examples/plain-flux/charts", "takeover-charts"); err != nil {
		t.Fatal(err)
	}
	s.createAll(runningReleases)
	s.applyOld("v1", appliedRelease)
	s.awaitRelease("dashboards", "1.4.0", 1)
	s.awaitRelease("alerts", "1.0.0", 1)
	dashboard, rules := s.uid("takeover-apps-dashboards-nodes"), s.uid("own-name")

	imported := s.importedSelection()
	s.applyOld("v2", `{apiVersion: v1, kind: ConfigMap, metadata: {name: rest, namespace: takeover}}`)
	s.adopt(imported)
	// The chart and the values are the same, so nothing is upgraded.
	s.awaitRelease("dashboards", "1.4.0", 1)
	// The chart comes through an OCIRepository now, which adds the digest to its version.
	s.awaitRelease("alerts", "1.0.0", 2)
	s.assertReleases("sh.helm.release.v1.own-name.v1", "sh.helm.release.v1.own-name.v2", "sh.helm.release.v1.takeover-apps-dashboards.v1")
	s.assertNoValues("dashboards")

	s.update(s.selection, func() {
		in := s.selection.Spec.Instances["dashboards"]
		in.Version = "1.4.2"
		s.selection.Spec.Instances["dashboards"] = in
	})
	s.awaitRelease("dashboards", "1.4.2", 2)
	s.assertReleases("sh.helm.release.v1.own-name.v1", "sh.helm.release.v1.own-name.v2",
		"sh.helm.release.v1.takeover-apps-dashboards.v1", "sh.helm.release.v1.takeover-apps-dashboards.v2")
	if dashboard != s.uid("takeover-apps-dashboards-nodes") || rules != s.uid("own-name") {
		t.Error("an object of a release was installed anew")
	}
}

// applyOld applies manifests by a Kustomization that prunes, as an owner did before.
func (s *scenario) applyOld(tag, manifests string) {
	s.t.Helper()
	dir := s.t.TempDir()
	write(s.t, filepath.Join(dir, "objects.yaml"), manifests)
	if _, err := system.PushCatalog(s.t.Context(), dir, "takeover-old:"+tag, stack.PushOptions{}); err != nil {
		s.t.Fatal(err)
	}
	source, old := s.repository(), &kustomizev1.Kustomization{ObjectMeta: s.metaOf("old"), Spec: kustomizev1.KustomizationSpec{
		Interval: metav1.Duration{Duration: time.Hour}, Prune: true,
		SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.OCIRepositoryKind, Name: "old"},
	}}
	source.Name = "old"
	source.Spec.URL += "-old"
	if tag == "v1" {
		s.create(source)
		s.create(old)
		s.t.Cleanup(func() { s.remove(old, source) })
	} else {
		s.update(source, func() { source.Spec.Reference.Tag = tag })
	}
	s.await("the old owner has applied "+tag, func(ctx context.Context) error {
		if err := system.Client().Get(ctx, client.ObjectKeyFromObject(old), old); err != nil {
			return err
		}
		if !strings.HasPrefix(old.Status.LastAppliedRevision, tag+"@") || !conditions.IsReady(old) {
			return fmt.Errorf("conditions %+v", old.Status.Conditions)
		}
		return nil
	})
}

// createAll creates objects as kubectl does.
func (s *scenario) createAll(manifests string) {
	s.t.Helper()
	for text := range strings.SplitSeq(strings.ReplaceAll(manifests, "HOST", system.RegistryHost()), "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			s.t.Fatal(err)
		}
		if err := system.Client().Create(s.t.Context(), o, client.FieldOwner("kubectl-create")); err != nil {
			s.t.Fatal(err)
		}
	}
}

// liveList writes what kubectl get helmreleases,helmrepositories,ocirepositories -o yaml prints.
func (s *scenario) liveList() string {
	s.t.Helper()
	list := map[string]any{"apiVersion": "v1", "kind": "List"}
	var items []any
	for kind, group := range map[string]string{
		"HelmRelease": "helm.toolkit.fluxcd.io/v2", "HelmRepository": "source.toolkit.fluxcd.io/v1", "OCIRepository": "source.toolkit.fluxcd.io/v1",
	} {
		found := &unstructured.UnstructuredList{}
		found.SetGroupVersionKind(schema.FromAPIVersionAndKind(group, kind+"List"))
		if err := system.Client().List(s.t.Context(), found, client.InNamespace(s.name)); err != nil {
			s.t.Fatal(err)
		}
		for _, item := range found.Items {
			items = append(items, item.Object)
		}
	}
	list["items"] = items
	content, err := yaml.Marshal(list)
	if err != nil {
		s.t.Fatal(err)
	}
	file := filepath.Join(s.t.TempDir(), "live.yaml")
	write(s.t, file, string(content))
	return file
}

// importedSelection returns the selection with what winnow import adds to it, as kustomize builds it.
func (s *scenario) importedSelection() []byte {
	s.t.Helper()
	dir := s.t.TempDir()
	file := filepath.Join(dir, "selection.yaml")
	write(s.t, file, strings.ReplaceAll(takeoverSelection, "HOST", system.RegistryHost()))
	cmd := exec.CommandContext(s.t.Context(), system.winnow, "import", s.liveList(), "-f", file,
		"--source", filepath.Join(system.root, "examples/plain-flux/catalog"), "-o", filepath.Join(dir, "instances.yaml"))
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("importing: %v\n%s", err, out)
	}
	imported, err := os.ReadFile(filepath.Join(dir, "instances.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Logf("imported\n%s", imported)
	write(s.t, filepath.Join(dir, "kustomization.yaml"), "resources: [selection.yaml]\npatches: [{path: instances.yaml}]\n")
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		s.t.Fatal(err)
	}
	content, err := built.AsYaml()
	if err != nil {
		s.t.Fatal(err)
	}
	return content
}

// adopt publishes a selection, and waits until its Kustomization has applied it.
func (s *scenario) adopt(selection []byte) {
	s.t.Helper()
	if err := yaml.Unmarshal(selection, s.selection); err != nil {
		s.t.Fatal(err)
	}
	kustomization := &kustomizev1.Kustomization{ObjectMeta: s.metaOf(s.name), Spec: kustomizev1.KustomizationSpec{
		Interval: metav1.Duration{Duration: time.Hour}, Prune: true, Wait: true,
		SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.ExternalArtifactKind, Name: s.name},
	}}
	s.create(s.repository())
	s.create(s.selection)
	s.create(kustomization)
	s.t.Cleanup(func() { s.remove(kustomization, s.selection, s.repository()) })
	s.await("the Kustomization has applied the instances", func(ctx context.Context) error {
		cs, ks := &v1alpha1.CatalogSelection{}, &kustomizev1.Kustomization{}
		for _, o := range []client.Object{cs, ks} {
			if err := system.Client().Get(ctx, client.ObjectKeyFromObject(s.selection), o); err != nil {
				return err
			}
		}
		if cs.Status.Artifact == nil || ks.Status.LastAppliedRevision != cs.Status.Artifact.Revision || !conditions.IsReady(ks) {
			return fmt.Errorf("selection %+v, Kustomization %+v", cs.Status.Conditions, ks.Status.Conditions)
		}
		return nil
	})
}

// awaitRelease waits until a HelmRelease has settled with a version of the chart and a revision of the release.
func (s *scenario) awaitRelease(name, version string, revision int64) {
	s.t.Helper()
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"})
	s.await(fmt.Sprintf("release %s has version %s and revision %d", name, version, revision), func(ctx context.Context) error {
		if err := system.Client().Get(ctx, client.ObjectKey{Namespace: s.name, Name: name}, release); err != nil {
			return err
		}
		status, _ := json.Marshal(release.Object["status"])
		observed, _, _ := unstructured.NestedInt64(release.Object, "status", "observedGeneration")
		history, _, _ := unstructured.NestedSlice(release.Object, "status", "history")
		if observed != release.GetGeneration() || len(history) == 0 {
			return fmt.Errorf("generation %d: %s", release.GetGeneration(), status)
		}
		last, _ := history[0].(map[string]any)
		installed, _ := last["chartVersion"].(string)
		installed, _, _ = strings.Cut(installed, "+")
		if installed != version || last["version"] != revision || last["status"] != "deployed" {
			return fmt.Errorf("history %s", status)
		}
		return nil
	})
}

// uid returns the UID of a ConfigMap that a chart has installed.
func (s *scenario) uid(name string) types.UID {
	s.t.Helper()
	installed := &corev1.ConfigMap{}
	if err := system.Client().Get(s.t.Context(), client.ObjectKey{Namespace: "takeover-apps", Name: name}, installed); err != nil {
		s.t.Fatal(err)
	}
	return installed.UID
}

// assertNoValues checks that Flux has removed values that an instance does not have, whoever has written them.
func (s *scenario) assertNoValues(name string) {
	s.t.Helper()
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"})
	if err := system.Client().Get(s.t.Context(), client.ObjectKey{Namespace: s.name, Name: name}, release); err != nil {
		s.t.Fatal(err)
	}
	if values, _, _ := unstructured.NestedMap(release.Object, "spec", "values"); values != nil {
		s.t.Errorf("%s has the values %v", name, values)
	}
}

// assertReleases compares the revisions that Helm has stored in any namespace of the test.
func (s *scenario) assertReleases(want ...string) {
	s.t.Helper()
	var got []string
	for _, namespace := range []string{"takeover-apps", s.name} {
		secrets := &corev1.SecretList{}
		if err := system.Client().List(s.t.Context(), secrets, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
			s.t.Fatal(err)
		}
		for _, secret := range secrets.Items {
			got = append(got, secret.Name)
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		s.t.Errorf("Helm has the releases %v, want %v", got, want)
	}
}
