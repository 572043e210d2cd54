package backend

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Types of the backends for packages of OLM.
const (
	// ClusterExtension is that of OLM v1.
	ClusterExtension = "ClusterExtension"
	// Subscription is that of OLM v0.
	Subscription = "Subscription"
)

// OperatorKinds are the kinds of objects by which OLM installs packages.
func OperatorKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{extensionKind, subscriptionKind, operatorGroupKind}
}

// ofPackage refuses what is no package of OLM, and the fields of the instance that no version of OLM has.
func (d *draft) ofPackage(meaningless map[string]string) bool {
	if d.Package == nil || d.Bundle == nil {
		d.refuse("backend", "the backend %s installs packages of OLM, and the application is a definition of %s: name another backend",
			d.backend, quote(d.Application.Group))
		return false
	}
	if d.TargetNamespace == "" {
		d.refuse("namespace", "is missing: name the namespace of the operator, which cannot be changed once it is installed")
	}
	reasons := map[string]string{
		"dependsOn":        "OLM installs packages in no order that an instance could set: use a selection of its own, whose Kustomization depends on this one's",
		"releaseName":      "OLM names what it installs after its object",
		"storageNamespace": "OLM has a place of its own for what it installs",
		"valuesFrom":       "OLM reads no values",
		"interval":         "OLM decides when it reconciles",
		"timeout":          "OLM decides how long it tries",
		"suspend":          "OLM cannot stop the reconciliation of one package",
		"destroyResources": "it is for Terraform",
	}
	maps.Copy(reasons, meaningless)
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if d.given(name) {
			d.refuse(name, "has no meaning for the backend %s: %s: leave it out", d.backend, reasons[name])
		}
	}
	return len(d.problems) == 0
}

// addPackageNamespace adds the namespace that a package is installed into, unless the instance says that it is there.
func (d *draft) addPackageNamespace() {
	create := d.CreateNamespace == nil || *d.CreateNamespace
	d.addNamespace(kkpNamespace{name: cmp.Or(d.TargetNamespace, d.Namespace), create: create})
}
