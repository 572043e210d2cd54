// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
)

// result returns what was taken.
func (t *taker) result() *Result {
	r := &Result{Instances: map[string]v1alpha1.Instance{}, Patches: patches(t.selection.Namespace, t.candidates()...), Refused: t.refused}
	for _, c := range t.candidates() {
		name := c.live.GetName()
		c.warnOfDependencies()
		c.warnOfChanges()
		if c.instance.Application == name {
			c.instance.Application = ""
		}
		if c.instance.Backend == backend.Helm {
			c.instance.Backend = ""
		}
		r.Instances[name] = c.instance
		for _, text := range c.warnings {
			r.Warnings = append(r.Warnings, Finding{Kind: c.live.GetKind(), Namespace: c.live.GetNamespace(), Name: name, Text: text})
		}
	}
	slices.SortStableFunc(r.Refused, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text))
	})
	return r
}

// YAML returns what the import adds to a selection, as a patch of kustomize has it. A patch replaces the list of patches, so it
// has the patches of the selection.
func (r *Result) YAML(cs *v1alpha1.CatalogSelection) ([]byte, error) {
	spec := struct {
		Instances map[string]v1alpha1.Instance `json:"instances"`
		Patches   []kustomize.Patch            `json:"patches,omitempty"`
	}{Instances: r.Instances}
	if len(r.Patches) > 0 {
		spec.Patches = append(slices.Clone(cs.Spec.Patches), r.Patches...)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
	if err != nil {
		return nil, err
	}
	patch := &unstructured.Unstructured{Object: map[string]any{"spec": fields}}
	patch.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSelectionKind))
	patch.SetName(cs.Name)
	patch.SetNamespace(cs.Namespace)
	return backend.Object{Unstructured: patch}.YAML()
}

// patches returns a patch for all candidates that need the same one.
func patches(namespace string, candidates ...*candidate) []kustomize.Patch {
	type group struct{ kind, patch string }
	named := map[group][]string{}
	for _, c := range candidates {
		if c.patch != nil {
			g := group{c.live.GetKind(), patchText(c)}
			named[g] = append(named[g], c.live.GetName())
		}
	}
	var all []kustomize.Patch
	for g, names := range named {
		version := served()[g.kind][0]
		all = append(all, kustomize.Patch{Patch: g.patch, Target: &kustomize.Selector{
			Group: version.Group, Kind: g.kind, Namespace: namespace, Name: strings.Join(names, "|"),
		}})
	}
	slices.SortFunc(all, func(a, b kustomize.Patch) int {
		return strings.Compare(a.Target.Kind+a.Target.Name, b.Target.Kind+b.Target.Name)
	})
	return all
}

// patchText returns the strategic merge patch of a candidate. Its name has no meaning beside the target.
func patchText(c *candidate) string {
	metadata, _ := c.patch["metadata"].(map[string]any)
	content := map[string]any{
		"apiVersion": c.live.GetAPIVersion(), "kind": c.live.GetKind(), "metadata": backend.MergeValues(metadata, map[string]any{"name": "any"}),
	}
	if spec := c.patch["spec"]; spec != nil {
		content["spec"] = spec
	}
	text, _ := yaml.Marshal(content) // JSON's types cannot fail
	return string(bytes.TrimSpace(text)) + "\n"
}
