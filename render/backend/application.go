package backend

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// CozystackApplication is the type of the backend for Cozystack's API server.
const CozystackApplication = "Application"

var applicationVersion = schema.GroupVersion{Group: "apps.cozystack.io", Version: "v1alpha1"}

// applicationBackend makes objects of the kinds that Cozystack serves for its definitions.
func applicationBackend() Backend {
	return translation{
		name:    CozystackApplication,
		targets: []schema.GroupVersionKind{applicationVersion.WithKind("")},
		build:   func(d *draft) { d.application() },
	}
}

func (d *draft) application() {
	if !d.ofGroup(cozystackGroup) {
		return
	}
	// Cozystack decides about all of these, and has no values but the spec of the object.
	d.unsupported("version", "createNamespace", "releaseName", "storageNamespace", "serviceAccountName", "interval", "timeout",
		"suspend", "dependsOn", "valuesFrom", "destroyResources")
	kind := d.cozystackKind()
	if problems := validation.IsDNS1035Label(d.Name); len(problems) > 0 {
		d.refuse("name", "%s is not valid for Cozystack: %s", quote(d.Name), problems[0])
	}
	helm := d.spec.get("release")
	if d.spec.get("backend").isSet() {
		helm = d.spec.get("backend", strings.ToLower(d.spec.get("backend", "type").text()))
	}
	if prefix := helm.get("prefix").text(); len(prefix)+len(d.Name) > maxReleaseName {
		d.refuse("name", "Cozystack would call the release %s, and Helm allows %d characters", quote(prefix+d.Name), maxReleaseName)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Values)) {
		if strings.HasPrefix(name, "_") {
			d.refuse("values."+name, "is Cozystack's own: its API server refuses keys that begin with _")
		}
	}
	d.checkSchema()
	if len(d.problems) > 0 {
		return
	}
	content := map[string]any{}
	if values := withoutNulls(d.Values); len(values) > 0 {
		content["spec"] = values
	}
	d.add(Main, applicationVersion.WithKind(kind), d.namespace(), d.Name, content)
}
