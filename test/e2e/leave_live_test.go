// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Labels by which KKP's components recognize their definitions.
const (
	operatorLabel    = "apps.kubermatic.k8c.io/managed-by"
	managerLabel     = "applicationcatalog.k8c.io/managed-by"
	catalogNameLabel = "applicationcatalog.k8c.io/catalog-name"
)

// createLive creates what KKP and the admins of a cluster have written.
func (l *leaving) createLive() {
	l.t.Helper()
	manager := map[string]string{managerLabel: "true", catalogNameLabel: "default-catalog"}
	bypassed := map[string]string{managerLabel: "true", catalogNameLabel: "default-catalog", v1alpha1.BypassLabel: ""}
	for _, live := range []struct {
		name, versions string
		labels         map[string]string
	}{
		{"cilium", "1.18.1", map[string]string{operatorLabel: "kkp", "apps.kubermatic.k8c.io/type": "cni"}},
		{"argocd", "2.13.2 2.14.9", manager}, // the manager keeps versions that its catalog has no more
		{"cert-manager", "1.18.2", manager},
		{"falco", "0.38.0 0.39.0", bypassed},
		{"metallb", "0.15.2", nil}, // of the built-in catalog
		{"ours", "1.0.0", nil},
	} {
		d := definitionOf(live.name)
		d.SetLabels(live.labels)
		d.Object["spec"] = liveSpec(live.name, strings.Fields(live.versions))
		if err := system.Client().Create(l.t.Context(), d, client.FieldOwner("kkp")); err != nil {
			l.t.Fatal(err)
		}
	}
}

// liveSpec has a switch and values that an admin has set.
func liveSpec(name string, versions []string) map[string]any {
	var all []any
	for _, v := range versions {
		all = append(all, map[string]any{"version": v, "template": map[string]any{"source": map[string]any{"helm": map[string]any{
			"url": "oci://registry.example.com/charts", "chartName": name, "chartVersion": v,
		}}}})
	}
	return map[string]any{
		"method": "helm", "description": "of " + name, "displayName": name, "versions": all, "defaultVersion": versions[0],
		"enforced": true, "defaultValuesBlock": "replicas: 7\n",
	}
}

// all maps the names of the live definitions to the objects.
func (l *leaving) all() map[string]*unstructured.Unstructured {
	l.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(definitionOf("").GroupVersionKind())
	if err := system.Client().List(l.t.Context(), list); err != nil {
		l.t.Fatal(err)
	}
	all := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		all[list.Items[i].GetName()] = &list.Items[i]
	}
	return all
}

// assertSame checks that nothing has changed in the definitions.
func (l *leaving) assertSame(before map[string]*unstructured.Unstructured) {
	l.t.Helper()
	for name, now := range l.all() {
		if was := before[name]; was == nil || now.GetResourceVersion() != was.GetResourceVersion() {
			// A bypass that is honored sets a mark.
			if now.GetAnnotations()[reconcileAnnotation] == "" {
				l.t.Errorf("%s was changed: %v", name, now.Object)
			}
		}
	}
}

// assertLeft checks that Flux has taken over the definitions, and has changed nothing in their specs.
func (l *leaving) assertLeft(before map[string]*unstructured.Unstructured) {
	l.t.Helper()
	after := l.all()
	for _, name := range slices.Sorted(maps.Keys(before)) {
		was, now := before[name], after[name]
		if now == nil || now.GetUID() != was.GetUID() || fmt.Sprint(now.Object["spec"]) != fmt.Sprint(was.Object["spec"]) {
			l.t.Errorf("%s is %v, was %v", name, now, was)
			continue
		}
		_, owned := now.GetLabels()["kustomize.toolkit.fluxcd.io/name"]
		if want := name != "cilium" && name != "falco"; owned != want || now.GetLabels()[managerLabel] != "" {
			l.t.Errorf("%s has the labels %v", name, now.GetLabels())
		}
	}
	if after["cilium"].GetResourceVersion() != before["cilium"].GetResourceVersion() {
		l.t.Errorf("cilium was written: %v", after["cilium"].Object)
	}
	if mark := after["falco"].GetAnnotations()[reconcileAnnotation]; mark != "disabled" {
		l.t.Errorf("the mark of falco is %q", mark)
	}
}
