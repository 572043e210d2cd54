// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// steering returns keys of labels and annotations that decide what kustomize builds, and what Flux, Winnow and KKP do with it.
func steering() []string {
	return []string{
		"config.kubernetes.io/local-config", "internal.config.kubernetes.io/needsHashSuffix", "config.k8s.io/id", "kustomize.config.k8s.io/behavior",
		"kustomize.toolkit.fluxcd.io/prune", "kustomize.toolkit.fluxcd.io/reconcile", "kustomize.toolkit.fluxcd.io/name",
		"catalog.winnow.dev/instance", "catalog.winnow.dev/tier",
		"apps.kubermatic.k8c.io/managed-by", "applicationcatalog.k8c.io/managed-by", "apps.k8c.io/managed-by-external-manager", "apps.k8c.io/application-bypass",
	}
}

// free returns keys of Flux that decide nothing of the kind.
func free() []string {
	return []string{"sharding.fluxcd.io/key", "event.toolkit.fluxcd.io/change_request", "reconcile.fluxcd.io/watch", "helm.toolkit.fluxcd.io/driftDetection"}
}

func TestCommonMetadataSetsNoReservedKey(t *testing.T) {
	set := func(edit func(*v1alpha1.CatalogSelection)) error {
		_, err := renderFS(t.Context(), os.DirFS("../examples/catalog"), selectionOf(edit))
		return err
	}
	for _, key := range steering() {
		domain, name, _ := strings.Cut(key, "/")
		labels := []string{key, domain + "/" + strings.ToUpper(name)} // the domain of a label is in lower case
		annotations := append(labels, strings.ToUpper(key), strings.ToUpper(domain[:1])+domain[1:]+"/"+name)
		for _, key := range labels {
			want := "spec.commonMetadata.labels[" + key + "]: Forbidden"
			if err := set(common(map[string]string{key: "true"}, nil)); reasonOf(err) != v1alpha1.InvalidSpecReason || !strings.Contains(err.Error(), want) {
				t.Errorf("the label %s: %v", key, err)
			}
		}
		for _, key := range annotations {
			want := "spec.commonMetadata.annotations[" + key + "]: Forbidden"
			if err := set(common(nil, map[string]string{key: "true"})); reasonOf(err) != v1alpha1.InvalidSpecReason || !strings.Contains(err.Error(), want) {
				t.Errorf("the annotation %s: %v", key, err)
			}
		}
	}
	for _, key := range free() {
		if err := set(common(map[string]string{key: "a"}, map[string]string{key: "a"})); err != nil {
			t.Errorf("%s is refused: %v", key, err)
		}
	}
}

// patching returns a patch that sets a key of the labels or annotations of all objects of a kind.
func patching(kind, field, key, value string) kustomize.Patch {
	member, _ := json.Marshal(map[string]string{key: value})
	return kustomize.Patch{
		Patch:  fmt.Sprintf("apiVersion: any/v1\nkind: any\nmetadata:\n  name: any\n  %s: %s\n", field, member),
		Target: &kustomize.Selector{Kind: kind},
	}
}

func TestPatchesSetNoReservedKey(t *testing.T) {
	for _, field := range []string{"labels", "annotations"} {
		for _, kind := range []string{"ApplicationDefinition", "HelmRelease", "ConfigMap"} {
			keys := steering()
			switch { // the check depends neither on the kind nor on the field, only what kustomize acts on and sets again
			case kind != "HelmRelease":
				keys = append(setAgain(kind), "kustomize.toolkit.fluxcd.io/reconcile")
			case field == "labels":
				keys = []string{"config.k8s.io/id", "kustomize.toolkit.fluxcd.io/prune", "catalog.winnow.dev/instance", "apps.kubermatic.k8c.io/managed-by"}
			}
			for _, key := range keys {
				err := patched(t, patching(kind, field, key, "enabled"))
				refused := strings.HasPrefix(fmt.Sprint(err), "spec.patches: ") && reasonOf(err) == v1alpha1.InvalidSpecReason
				if isSetAgain := field == "annotations" && slices.Contains(setAgain(kind), key); refused == isSetAgain {
					t.Errorf("%s of a %s, %s: %v", key, kind, field, err)
				}
			}
			var allowed []kustomize.Patch
			for _, key := range free() {
				allowed = append(allowed, patching(kind, field, key, "a"))
			}
			if err := patched(t, allowed...); err != nil {
				t.Errorf("%s of a %s: %v", field, kind, err)
			}
		}
	}
}

// setAgain returns the annotations of a kind that a patch has no effect on: kustomize removes the first one from what it
// builds, and sets the others after the patches.
func setAgain(kind string) []string {
	keys := []string{"config.k8s.io/id"}
	if kind != "ConfigMap" {
		keys = append(keys, "kustomize.toolkit.fluxcd.io/prune")
	}
	return keys
}

func TestPatchesKeepTheNamespaceOfObjects(t *testing.T) {
	for kind, namespace := range map[string]string{"ApplicationDefinition": "other", "HelmRelease": "other", "ConfigMap": ""} {
		patch := kustomize.Patch{
			Patch: fmt.Sprintf("- {op: add, path: /metadata/namespace, value: %q}", namespace), Target: &kustomize.Selector{Kind: kind},
		}
		if err := patched(t, patch); reasonOf(err) != v1alpha1.InvalidSpecReason || !strings.Contains(err.Error(), "these are gone: "+kind+".") {
			t.Errorf("the namespace of a %s: %v", kind, err)
		}
	}
}

// Flux takes every object with items for a list, whatever its kind is, and applies the items instead of the object.
func TestPatchesMakeNoListOfAnObject(t *testing.T) {
	for _, kind := range []string{"ApplicationDefinition", "HelmRelease", "ConfigMap"} {
		for _, patch := range []string{
			"- {op: add, path: /items, value: []}",
			"- {op: add, path: /items, value: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]}",
			"- {op: copy, from: /metadata, path: /items}\n- {op: replace, path: /items, value: []}",
			"apiVersion: any/v1\nkind: any\nmetadata: {name: any}\nitems: []\n",
		} {
			err := patched(t, kustomize.Patch{Patch: patch, Target: &kustomize.Selector{Kind: kind}})
			if reasonOf(err) != v1alpha1.InvalidSpecReason || !strings.Contains(err.Error(), "items") {
				t.Errorf("%q of a %s: %v", patch, kind, err)
			}
		}
	}
}

// With owners that do not exist, the garbage collector deletes the object; with a deletionTimestamp, server-side apply
// creates an object that is being deleted.
func TestPatchesSetNoMetadataThatCatalogsMayNot(t *testing.T) {
	for name, field := range map[string]string{
		"ownerReferences":   "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: 00000000-0000-0000-0000-000000000000}]",
		"deletionTimestamp": `deletionTimestamp: "2020-01-01T00:00:00Z"`,
		"uid":               "uid: 00000000-0000-0000-0000-000000000000",
		"resourceVersion":   `resourceVersion: "1"`,
		"managedFields":     "managedFields: [{manager: x}]",
		"generateName":      "generateName: x",
		"an unknown field":  "nonsense: x",
		"an invalid label":  "labels: {a: a b}",
	} {
		for _, kind := range []string{"ApplicationDefinition", "HelmRelease", "ConfigMap"} {
			t.Run(name+" of a "+kind, func(t *testing.T) {
				err := patched(t, kustomize.Patch{
					Patch:  "apiVersion: any/v1\nkind: any\nmetadata:\n  name: any\n  " + field + "\n",
					Target: &kustomize.Selector{Kind: kind},
				})
				if reasonOf(err) != v1alpha1.InvalidSpecReason || !strings.HasPrefix(err.Error(), "spec.patches: patches must not set what catalogs may not: "+kind+".") {
					t.Errorf("%v", err)
				}
			})
		}
	}
	finalizer := kustomize.Patch{Patch: "- {op: add, path: /metadata/finalizers, value: [example.com/a]}", Target: &kustomize.Selector{Kind: ".*"}}
	if err := patched(t, finalizer); err != nil {
		t.Errorf("a finalizer: %v", err)
	}
}

// patched renders an artifact with definitions and instances.
func patched(t *testing.T, patches ...kustomize.Patch) error {
	t.Helper()
	_, err := renderInstances(t, func(spec *v1alpha1.CatalogSelectionSpec) { spec.Patches = patches })
	return err
}
