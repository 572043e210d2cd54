// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/test/stack"
)

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
		now := i.result(i.t.Context(), result)
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

// awaitHolding waits until the selection is held for these reasons, each "<reason> <instance>: <beginning of the
// message>", and still serves what it published.
func (i *installing) awaitHolding(want ...string) *v1alpha1.CatalogSelection {
	i.t.Helper()
	return i.awaitSelection(fmt.Sprintf("held for %q", want), func(cs *v1alpha1.CatalogSelection) error {
		held := cs.Status.Held
		if held == nil || !conditions.IsTrue(cs, v1alpha1.HeldCondition) || !conditions.IsReady(cs) {
			return errors.New("not held, or not ready")
		}
		var got []string
		for _, r := range held.Reasons {
			got = append(got, fmt.Sprintf("%s %s: %s", r.Reason, r.Instance, r.Message))
		}
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			return fmt.Errorf("held for %q", got)
		}
		return nil
	})
}

// restart kills the controller, and starts one that has no data.
func (i *installing) restart() {
	i.t.Helper()
	if err := system.controller.Kill(); err != nil {
		i.t.Fatal(err)
	}
	if err := system.restart(i.t.Context(), stack.ControllerOptions{}); err != nil {
		i.t.Fatal(err)
	}
}

// awaitServed waits until the archive of the ExternalArtifact can be downloaded.
func (i *installing) awaitServed() {
	i.t.Helper()
	i.await("the archive", func(ctx context.Context) error {
		_, ea, _, err := i.live(ctx)
		if err == nil && i.download(ctx, ea.Status.Artifact.URL) != ea.Status.Artifact.Digest {
			err = errors.New("not served")
		}
		return err
	})
}

// assertUpgraded checks that only web has changed, and that its ConfigMap is the same object.
func (i *installing) assertUpgraded(before map[string]string, results map[string]*corev1.ConfigMap) {
	i.t.Helper()
	if got := differing(before, i.state(results)); !slices.Equal(got, []string{"release web", "web"}) {
		i.t.Errorf("these objects have changed: %v", got)
	}
	if !strings.HasPrefix(before["web"], string(results["web"].UID)) {
		i.t.Errorf("web was installed anew: it was %s and is %s", before["web"], results["web"].UID)
	}
}

// webRevision returns the number of the last revision of the release web, which counts installations and upgrades.
func (i *installing) webRevision() int64 {
	i.t.Helper()
	release, err := i.releaseOf(i.t.Context(), "web")
	if err != nil {
		i.t.Fatal(err)
	}
	history, _, _ := unstructured.NestedSlice(release.Object, "status", "history")
	if len(history) == 0 {
		i.t.Fatalf("the release has no history: %v", release.Object["status"])
	}
	last, _ := history[0].(map[string]any)
	revision, _ := last["version"].(int64)
	return revision
}

// result returns a ConfigMap as it is now.
func (i *installing) result(ctx context.Context, of *corev1.ConfigMap) *corev1.ConfigMap {
	i.t.Helper()
	now := &corev1.ConfigMap{}
	if err := system.Client().Get(ctx, keyOf(of), now); err != nil {
		i.t.Fatal(err)
	}
	return now
}

// files maps the paths in the published archive to their contents.
func (i *installing) files() map[string]string {
	i.t.Helper()
	ea := &sourcev1.ExternalArtifact{ObjectMeta: i.metaOf(i.selection.Name)}
	if err := system.Client().Get(i.t.Context(), client.ObjectKeyFromObject(ea), ea); err != nil {
		i.t.Fatal(err)
	}
	packed, err := get(i.t.Context(), ea.Status.Artifact.URL)
	if err != nil {
		i.t.Fatal(err)
	}
	unpacked, err := archive.Read(i.t.Context(), bytes.NewReader([]byte(packed)), archive.Limits{})
	if err != nil {
		i.t.Fatal(err)
	}
	files := map[string]string{}
	for _, path := range filesIn(i.t, unpacked.FS()) {
		content, err := fs.ReadFile(unpacked.FS(), path)
		if err != nil {
			i.t.Fatal(err)
		}
		files[path] = string(content)
	}
	return files
}

// differing returns the keys whose values differ, sorted.
func differing(before, after map[string]string) (keys []string) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	for key := range all {
		if before[key] != after[key] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
