// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/reserved"
)

const (
	reconcileAnnotation = guard.ReconcileAnnotation
	pruneAnnotation     = guard.PruneAnnotation
	disabled            = guard.Disabled
	marksOwner          = guard.MarksOwner
	platformLabel       = reserved.PlatformLabel
)

func newDefinition(group, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvkOf(group))
	u.SetName(name)
	return u
}

// catalog sets applications with these names as the content of the source.
func (c *liveCluster) catalog(names ...string) {
	c.Helper()
	c.source(c.catalogOf(names...))
}

// catalogOf packs a catalog of definitions with one version each.
func (c *liveCluster) catalogOf(names ...string) []byte {
	c.Helper()
	var files []string
	for _, name := range names {
		content := strings.Replace(definition(name, ""), "apps.kubermatic.k8c.io", c.group, 1)
		files = append(files, "applications/"+name+"/application.yaml", content)
	}
	return catalogArchive(c.T, files...)
}

// apply simulates how Flux applies the artifact of a selection. The Kustomization of "kkp" is "apps", and those
// of other selections have the same names as the selections.
func (c *liveCluster) apply(selection string, names ...string) {
	c.Helper()
	owners := map[string]string{"kkp": "apps"}
	for _, name := range names {
		u := newDefinition(c.group, name)
		u.SetLabels(map[string]string{
			v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue, v1alpha1.NameLabel: selection, v1alpha1.NamespaceLabel: c.namespace,
			"kustomize.toolkit.fluxcd.io/name": cmp.Or(owners[selection], selection), "kustomize.toolkit.fluxcd.io/namespace": c.namespace,
		})
		err := apiServer.Apply(c.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("flux"), client.ForceOwnership)
		if err != nil {
			c.Fatal(err)
		}
	}
}

// own sets the owner labels of a Kustomization on definitions.
func (c *liveCluster) own(kustomization string, names ...string) {
	c.Helper()
	for _, name := range names {
		c.patch(name, fmt.Sprintf(`"labels": {"kustomize.toolkit.fluxcd.io/name": %q, "kustomize.toolkit.fluxcd.io/namespace": %q}`, kustomization, c.namespace))
	}
}

// create creates definitions without an owner.
func (c *liveCluster) create(names ...string) {
	c.Helper()
	for _, name := range names {
		u := newDefinition(c.group, name)
		u.Object["spec"] = map[string]any{"description": "somebody's"}
		if err := apiServer.Create(c.Context(), u, client.FieldOwner("user")); err != nil {
			c.Fatal(err)
		}
	}
}

// patch changes metadata of a definition by a merge patch, as a user does.
func (c *liveCluster) patch(name, metadata string) {
	c.Helper()
	body := fmt.Appendf(nil, `{"metadata": {%s}}`, metadata)
	err := apiServer.Patch(c.Context(), newDefinition(c.group, name), client.RawPatch(types.MergePatchType, body), client.FieldOwner("user"))
	if err != nil {
		c.Fatal(err)
	}
}

func (c *liveCluster) label(name, key, value string) {
	c.Helper()
	c.patch(name, fmt.Sprintf(`"labels": {%q: %q}`, key, value))
}

func (c *liveCluster) unlabel(name, key string) {
	c.Helper()
	c.patch(name, fmt.Sprintf(`"labels": {%q: null}`, key))
}

func (c *liveCluster) annotate(name, key, value string) {
	c.Helper()
	c.patch(name, fmt.Sprintf(`"annotations": {%q: %q}`, key, value))
}

func (c *liveCluster) bypass(names ...string) {
	c.Helper()
	for _, name := range names {
		c.label(name, v1alpha1.BypassLabel, "true")
	}
}

// live returns a definition, nil if it does not exist.
func (c *liveCluster) live(name string) *unstructured.Unstructured {
	c.Helper()
	u := newDefinition(c.group, name)
	if !c.exists(u) {
		return nil
	}
	return u
}

// marks lists the annotations and labels of a definition that Winnow may change, with the managers of each
// mark: "disabled by winnow-marks".
func (c *liveCluster) marks(name string) []string {
	c.Helper()
	u := c.live(name)
	if u == nil {
		return []string{"gone"}
	}
	var lines []string
	annotations, labels := u.GetAnnotations(), u.GetLabels()
	if value, ok := annotations[reconcileAnnotation]; ok {
		lines = append(lines, value+ownersOf(u, reconcileAnnotation))
	}
	if value, ok := annotations[v1alpha1.BypassMarkAnnotation]; ok {
		lines = append(lines, "set by "+value)
	}
	if value, ok := labels[v1alpha1.UnmanagedLabel]; ok {
		lines = append(lines, "unmanaged "+value+ownersOf(u, v1alpha1.UnmanagedLabel))
	}
	for _, key := range []string{v1alpha1.ManagedByLabel, v1alpha1.NamespaceLabel, v1alpha1.NameLabel} {
		if value, ok := labels[key]; ok {
			lines = append(lines, "label "+strings.ReplaceAll(value, c.namespace, "NAMESPACE"))
		}
	}
	return lines
}

func ownersOf(u *unstructured.Unstructured, key string) string {
	var owners []string
	for _, f := range u.GetManagedFields() {
		if f.FieldsV1 != nil && strings.Contains(f.FieldsV1.GetRawString(), `"f:`+key+`"`) {
			owners = append(owners, f.Manager)
		}
	}
	slices.Sort(owners)
	return " by " + strings.Join(slices.Compact(owners), " and ")
}

// appliedAnd adds the labels of definitions that Flux has applied for the selection "kkp".
func appliedAnd(marks ...string) []string {
	return append(marks, "label winnow", "label NAMESPACE", "label kkp")
}

// unchanged expects that a repetition writes neither the selection nor a definition.
func (c *liveCluster) unchanged() {
	c.Helper()
	versions := func() any {
		list := definitionList(c.group)
		if err := apiServer.List(c.Context(), list); err != nil {
			c.Fatal(err)
		}
		lines := []string{c.get("kkp").ResourceVersion}
		for i := range list.Items {
			lines = append(lines, list.Items[i].Name+" "+list.Items[i].ResourceVersion)
		}
		return lines
	}
	before := versions()
	c.traffic.taken()
	_, _ = c.tryReconcile("kkp")
	c.equal("versions after a repetition", versions(), before)
	c.equal("writes of a repetition", c.traffic.taken(), []string(nil))
}

// appliedCondition returns "<status> <reason>: <message>" of Applied.
func appliedCondition(condition *metav1.Condition) string {
	if condition == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", condition.Status, condition.Reason, condition.Message)
}

// relabel sets the label of unmanaged definitions, as Winnow does.
func (c *liveCluster) relabel(name string) {
	c.Helper()
	u := newDefinition(c.group, name)
	u.SetLabels(map[string]string{v1alpha1.UnmanagedLabel: "true"})
	if err := apiServer.Apply(c.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(marksOwner)); err != nil {
		c.Fatal(err)
	}
}
