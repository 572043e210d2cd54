// SPDX-License-Identifier: Apache-2.0

// Package olm has the backends whose objects OLM installs: ClusterExtensions of OLM v1 and Subscriptions of OLM v0, both of
// packages. It must not know definitions.
package olm

import (
	"cmp"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// ofPackage refuses an application that is no package of OLM, and fields of the instance that no version of OLM
// supports. It reports whether the draft has no problem.
func ofPackage(d *draft.Draft, meaningless map[string]string) bool {
	if d.Package == nil || d.Bundle == nil {
		d.Refuse("backend", "the backend %s installs packages of OLM, and the application is a definition of %s: name another backend",
			d.Backend, excerpt.Quoted(d.Application.Group))
		return false
	}
	if d.TargetNamespace == "" {
		d.Refuse("namespace", "is missing: name the namespace of the operator, which cannot be changed once it is installed")
	}
	reasons := map[string]string{
		"dependsOn":        "OLM installs packages in no order that an instance could set: use a selection of its own, whose Kustomization depends on this one's",
		"releaseName":      "OLM names what it installs after its object",
		"storageNamespace": "OLM has a place of its own for what it installs",
		"valuesFrom":       "OLM reads no values",
		"interval":         "OLM decides when it reconciles",
		"timeout":          "OLM decides how long it tries",
		"deploy.wait":      "OLM waits for what it installs",
		"deploy.atomic":    "OLM rolls nothing back",
		"deploy.retries":   "OLM decides how often it tries",
		"suspend":          "OLM cannot stop the reconciliation of one package",
		"destroyResources": "it is for Terraform",
	}
	maps.Copy(reasons, meaningless)
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if d.Given(name) {
			d.Refuse(name, "has no meaning for the backend %s: %s: leave it out", d.Backend, reasons[name])
		}
	}
	return len(d.Problems) == 0
}

// addPackageNamespace adds the namespace that a package is installed into, unless the instance says that it is there.
func addPackageNamespace(d *draft.Draft) {
	create := d.CreateNamespace == nil || *d.CreateNamespace
	d.AddNamespace(draft.Destination{Name: cmp.Or(d.TargetNamespace, d.Namespace), Create: create})
}
