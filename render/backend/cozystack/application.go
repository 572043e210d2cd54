// SPDX-License-Identifier: Apache-2.0

package cozystack

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Fill makes an object of the kind that Cozystack serves for a definition.
func Fill(d *draft.Draft) {
	if !d.Installs(d.Application.OfCozystack()) {
		return
	}
	// Cozystack decides about all of these, and has no values but the spec of the object.
	d.Unsupported("version", "createNamespace", "releaseName", "storageNamespace", "serviceAccountName", "interval", "timeout",
		"suspend", "dependsOn", "valuesFrom", "destroyResources", "deploy.wait", "deploy.atomic", "deploy.retries")
	kind := Kind(d)
	if problems := validation.IsDNS1035Label(d.Name); len(problems) > 0 {
		d.Refuse("name", "%s is not valid for Cozystack: %s", excerpt.Quoted(d.Name), problems[0])
	}
	of := definition.BackendOf(d.Spec)
	prefix := of.Part.Get("prefix").Text()
	if len(prefix)+len(d.Name) > backend.MaxReleaseName {
		d.Refuse("name", "Cozystack would call the release %s, and Helm allows %d characters", excerpt.Quoted(prefix+d.Name), backend.MaxReleaseName)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Values)) {
		if strings.HasPrefix(name, "_") {
			d.Refuse("values."+name, "is Cozystack's own: its API server refuses keys that begin with _")
		}
	}
	CheckSchema(d)
	if len(d.Problems) > 0 {
		return
	}
	content := map[string]any{}
	if values := backend.WithoutNulls(d.Values); len(values) > 0 {
		content["spec"] = values
	}
	d.Add(backend.Main, ApplicationVersion.WithKind(kind), d.RunsIn(), d.Name, content)
	made := kinds.HelmRelease.Kind
	if of.Type == kinds.Terraform.Kind {
		made = of.Type
	}
	d.Makes(made, prefix+d.Name)
}
