// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

type specEdit = func(*v1alpha1.CatalogSelection)

func exclude(names ...string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = names }
}

// limited selects applications by their names.
func limited(names ...string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = &v1alpha1.Limit{NameSelector: names} }
}

func constrain(constraint string, names ...string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Versions = []v1alpha1.VersionRule{{Names: names, Constraint: constraint}}
	}
}

func patchOf(name, patch string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Patches = []kustomize.Patch{{Patch: patch, Target: &kustomize.Selector{Name: name}}}
	}
}

// removeFirstVersion is a patch.
const removeFirstVersion = "- {op: remove, path: /spec/versions/0}\n"

func TestEditsWhileAChangeIsHeld(t *testing.T) {
	const before, after = "argocd:gold nginx:gold falco:gold velero:gold", "argocd:gold nginx:silver velero:gold"
	held := []string{"Removal falco 1.0.0"}
	for _, test := range []struct {
		name string
		edit specEdit
		want []string
	}{
		{"excluding the removed applications releases them", exclude("falco", "nginx"), nil},
		{"excluding another application releases nothing else", exclude("velero"), []string{"Removal falco 1.0.0", "Removal nginx 1.0.0"}},
		{"narrowing is held as well", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit.NameSelector = []string{"argocd"} },
			[]string{"Removal falco 1.0.0", "Removal nginx 1.0.0", "Removal velero 1.0.0"}},
		{"widening restores an application that only the tier removed", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = nil }, held},
		{"publishing removals releases it", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.OnRemoval = "Publish" }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishGuarded(t, before, onlyGold)
			e.source(applications(t, after))
			e.equal("lost at first", lost(e.hold(good, "Removal")), []string{"Removal falco 1.0.0", "Removal nginx 1.0.0"})
			e.edit(test.edit)
			if test.want != nil {
				e.equal("lost", lost(e.hold(good, "Removal")), test.want)
				e.approveHeld()
			}
			e.good()
		})
	}
}
