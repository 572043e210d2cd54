//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// installing is a namespace with a catalog of charts, and with selections that install them.
type installing struct {
	*estate
	dir string // of the files that are committed
}

// in returns the same namespace for a subtest.
func (i *installing) in(t *testing.T) *installing {
	return &installing{&estate{&scenario{t: t, name: i.name, selection: i.selection}}, i.dir}
}

// newInstalling creates the namespace.
func newInstalling(t *testing.T, name string) *installing {
	t.Helper()
	i := &installing{&estate{&scenario{t: t, name: name}}, t.TempDir()}
	i.selection = i.selectionOf(name)
	i.create(namespace(name))
	return i
}

// charts returns the URL of the charts of the namespace.
func (i *installing) charts() string {
	return fmt.Sprintf("oci://%s/%s-charts", system.RegistryHost(), i.name)
}

// offer pushes a catalog of these applications as a tag. It pushes no charts.
func (i *installing) offer(tag string, apps ...packaged) {
	i.t.Helper()
	dir := i.t.TempDir()
	for _, a := range apps {
		write(i.t, filepath.Join(dir, "applications", a.name, "application.yaml"), a.definition(i.charts()))
	}
	i.pushDir(tag, dir)
}

// deploy commits an overlay over the selection in base/, with more lines in its spec, and applies it.
func (i *installing) deploy(spec string) {
	i.t.Helper()
	patch := fmt.Sprintf("apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: %s, namespace: %[1]s}\nspec:\n%s",
		i.name, spec)
	write(i.t, filepath.Join(i.dir, "cluster", "patch.yaml"), patch)
	if err := system.ApplyKustomization(i.t.Context(), filepath.Join(i.dir, "cluster")); err != nil {
		i.t.Fatal(err)
	}
}

// commitBase commits the selection that deploy patches.
func (i *installing) commitBase(manifest string) {
	i.t.Helper()
	write(i.t, filepath.Join(i.dir, "base", "selection.yaml"), manifest)
	write(i.t, filepath.Join(i.dir, "base", "kustomization.yaml"), "resources: [selection.yaml]\n")
	write(i.t, filepath.Join(i.dir, "cluster", "kustomization.yaml"), "resources: [../base]\npatches: [{path: patch.yaml}]\n")
}

// follow points the OCIRepository of the catalog to a tag, and returns the digest that it has there.
func (i *installing) follow(tag string) string {
	i.t.Helper()
	i.point(tag)
	repository := i.repository()
	i.await("pulled "+tag, func(ctx context.Context) error {
		if err := system.Client().Get(ctx, keyOf(repository), repository); err != nil {
			return err
		}
		if a := repository.Status.Artifact; a == nil || !strings.HasPrefix(a.Revision, tag+"@") {
			return fmt.Errorf("not yet: %v", a)
		}
		return nil
	})
	_, digest, _ := strings.Cut(repository.Status.Artifact.Revision, "@")
	return digest
}

// releaseOf returns the live HelmRelease with a name.
func (i *installing) releaseOf(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"})
	err := system.Client().Get(ctx, client.ObjectKey{Namespace: i.name, Name: name}, release)
	return release, err
}

// conditionOf returns "<status> <reason>: <message>" of a condition.
func conditionOf(object *unstructured.Unstructured, kind string) string {
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, one := range all {
		if c, ok := one.(map[string]any); ok && c["type"] == kind {
			return fmt.Sprintf("%s %s: %s", c["status"], c["reason"], c["message"])
		}
	}
	return ""
}

// awaitRelease waits until a condition of a HelmRelease begins with a text, and contains others.
func (i *installing) awaitRelease(name, condition, prefix string, parts ...string) {
	i.t.Helper()
	i.await(fmt.Sprintf("%s of the release %s is %s", condition, name, prefix), func(ctx context.Context) error {
		release, err := i.releaseOf(ctx, name)
		if err != nil {
			return err
		}
		got := conditionOf(release, condition)
		missing := slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(got, part) })
		if !strings.HasPrefix(got, prefix) || missing {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
}

// placeOf returns where a HelmRelease installs its chart: the namespace, and the name of the release, which is that of
// the ConfigMap.
func placeOf(release *unstructured.Unstructured) client.ObjectKey {
	namespace, _, _ := unstructured.NestedString(release.Object, "spec", "targetNamespace")
	name, _, _ := unstructured.NestedString(release.Object, "spec", "releaseName")
	return client.ObjectKey{Namespace: namespace, Name: name}
}

// awaitInstalled waits until exactly these instances, whose versions want has by their names, are published, applied and
// installed, and returns the ConfigMaps of their charts. A definition of Cozystack has no version.
func (i *installing) awaitInstalled(want map[string]string) map[string]*corev1.ConfigMap {
	i.t.Helper()
	var found map[string]*corev1.ConfigMap
	i.await(fmt.Sprintf("installed %v", want), func(ctx context.Context) (err error) {
		found, err = i.installed(ctx, want)
		return err
	})
	return found
}

func (i *installing) installed(ctx context.Context, want map[string]string) (map[string]*corev1.ConfigMap, error) {
	cs, ks := i.selectionOf(i.selection.Name), i.kustomizationOf(i.selection.Name)
	for _, o := range []client.Object{cs, ks} {
		if err := system.Client().Get(ctx, keyOf(o), o); err != nil {
			return nil, err
		}
	}
	versions := map[string]string{}
	for _, in := range cs.Status.Instances {
		versions[in.Name] = in.Version
	}
	switch {
	case cs.Status.ObservedGeneration != cs.Generation || !conditions.IsReady(cs) || cs.Status.Held != nil:
		return nil, fmt.Errorf("held: %+v, conditions: %+v", cs.Status.Held, cs.Status.Conditions)
	case !maps.Equal(versions, want):
		return nil, fmt.Errorf("published are %v", versions)
	case ks.Status.LastAppliedRevision != cs.Status.Artifact.Revision || !conditions.IsReady(ks) || !conditions.IsTrue(cs, v1alpha1.AppliedCondition):
		return nil, fmt.Errorf("applied is %s of %s: %+v; %+v", ks.Status.LastAppliedRevision, cs.Status.Artifact.Revision,
			ks.Status.Conditions, cs.Status.Conditions)
	}
	found := map[string]*corev1.ConfigMap{}
	for _, in := range cs.Status.Instances {
		result, err := i.resultOf(ctx, strings.TrimPrefix(in.Object, "HelmRelease "+i.name+"/"))
		if err != nil {
			return nil, err
		}
		if version := result.Data["version"]; in.Version != "" && version != in.Version {
			return nil, fmt.Errorf("%s has installed %s", in.Name, version)
		}
		found[in.Name] = result
	}
	return found, nil
}

// resultOf returns what a HelmRelease that is ready has installed.
func (i *installing) resultOf(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	release, err := i.releaseOf(ctx, name)
	if err != nil {
		return nil, err
	}
	observed, _, _ := unstructured.NestedInt64(release.Object, "status", "observedGeneration")
	if ready := conditionOf(release, meta.ReadyCondition); observed != release.GetGeneration() || !strings.HasPrefix(ready, "True") {
		return nil, fmt.Errorf("%s is in generation %d, observed is %d: %s", name, release.GetGeneration(), observed, ready)
	}
	result := &corev1.ConfigMap{}
	return result, system.Client().Get(ctx, placeOf(release), result)
}

// state returns the resourceVersions of what instances have installed, and the generations of their HelmReleases.
func (i *installing) state(results map[string]*corev1.ConfigMap) map[string]string {
	i.t.Helper()
	state := map[string]string{}
	for name, result := range results {
		now := &corev1.ConfigMap{}
		if err := system.Client().Get(i.t.Context(), keyOf(result), now); err != nil {
			i.t.Fatal(err)
		}
		state[name] = fmt.Sprintf("%s at %s", now.UID, now.ResourceVersion)
	}
	releases := &unstructured.UnstructuredList{}
	releases.SetGroupVersionKind(schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmReleaseList"})
	if err := system.Client().List(i.t.Context(), releases, client.InNamespace(i.name)); err != nil {
		i.t.Fatal(err)
	}
	for _, release := range releases.Items {
		state["release "+release.GetName()] = fmt.Sprintf("%s in generation %d", release.GetUID(), release.GetGeneration())
	}
	return state
}

// valuesOf returns the values that a chart was rendered with.
func valuesOf(t *testing.T, result *corev1.ConfigMap) map[string]any {
	t.Helper()
	var values map[string]any
	if err := json.Unmarshal([]byte(result.Data["values"]), &values); err != nil {
		t.Fatal(err)
	}
	return values
}

// fourInstances selects three applications of KKP and one of Cozystack.
const fourInstances = `apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: instances, namespace: instances}
spec:
  interval: 1h
  definitions: Omit
  sources:
  - name: instances
  - {name: instances-platform, format: Definitions}
  values:
  - names: [web]
    instanceOverrides: {d: override}
  instances:
    authorities:
      application: trust
      namespace: security
      valuesFrom: [{kind: Secret, name: authorities}]
    web:
      version: "~1.4"
      dependsOn: ["@system"]
      valuesFrom:
      - {kind: Secret, name: web}
      - {kind: Secret, name: web, valuesKey: password, targetPath: login.password, literal: true}
      - {kind: Secret, name: web, valuesKey: port, targetPath: "ports[1]"}
      values:
        c: values
        d: values
        tree: {left: null}
        dropped: null
        nested: {drop: null}
    handbook:
      version: 1.0.0
      values: {title: base}
    store:
      application: cache
      backend: Helm
      namespace: data
      createNamespace: true
      values: {memory: 1Gi}
`

const webDefaults = `  defaultNamespace: {name: frontend, create: true}
  defaultValuesBlock: |
    a: default
    b: default
    c: default
    d: default
    list: [default, default]
    tree: {left: default, right: default}
    login: {user: default, password: default}
    ports: [80, 443]
`

const webChartValues = `a: chart
only: chart
dropped: chart
nested: {keep: chart, drop: chart}
`

// Secrets of the instances. The password has what means something to Helm's --set.
const (
	webSecret = `---
apiVersion: v1
kind: Secret
metadata: {name: web, namespace: instances}
stringData:
  values.yaml: |
    b: secret
    c: secret
    d: secret
    list: [secret]
  password: "a,b={c}.d"
  port: "8443"
`
	authoritiesSecret = `---
apiVersion: v1
kind: Secret
metadata: {name: authorities, namespace: instances}
stringData: {values.yaml: "acme: certificate"}
`
)

// webWith returns the application web with these versions.
func webWith(versions ...string) packaged {
	return packaged{name: "web", versions: versions, fields: webDefaults}
}

// prepareInstances pushes catalogs and charts, and creates the sources.
func prepareInstances(t *testing.T) (i *installing, others []packaged) {
	t.Helper()
	i = newInstalling(t, "instances")
	for _, version := range []string{"1.4.0", "1.4.2", "1.4.3", "1.4.4", "2.0.0"} {
		pushChart(t, "instances-charts", chartFiles("web", version, webChartValues))
	}
	pushChart(t, "instances-charts", chartFiles("trust", "1.0.0", ""))
	pushChart(t, "instances-charts", chartFiles("cache", "0.1.0", "replicas: 2\n"))
	others = []packaged{
		{name: "trust", versions: []string{"1.0.0"}, labels: "apps.kubermatic.k8c.io/type: security", fields: "  defaultVersion: 1.0.0\n"},
		{name: "handbook", versions: []string{"1.0.0"}, url: serveChart(t, "handbook", "1.0.0")},
	}
	i.offer("v1", append(others, webWith("1.4.0", "1.4.2"))...)
	i.create(i.repository())
	platform := t.TempDir()
	write(t, filepath.Join(platform, "cache.yaml"), fmt.Sprintf(platformDefinition, "platform-charts"))
	if _, err := system.PushCatalog(t.Context(), platform, "instances-platform:v1", stack.PushOptions{Shape: stack.FluxArtifact}); err != nil {
		t.Fatal(err)
	}
	source := i.repository()
	source.Name, source.Spec.URL, source.Spec.LayerSelector = "instances-platform", source.Spec.URL+"-platform", nil
	i.create(source)
	i.create(namespace("platform-charts"))
	i.commit([]string{webSecret, chartRepository("platform-charts", "platform-cache", "instances-charts/cache", "0.1.0")})
	i.commitBase(fourInstances)
	return i, others
}

