// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"strings"

	"github.com/winnow-dev/winnow/render/backend"
	backendcozystack "github.com/winnow-dev/winnow/render/backend/cozystack"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/lint/field"
)

// checkBackend checks which of spec.release and spec.backend a definition of Cozystack has. Its releases know the former
// alone; the latter is a proposal, which deprecates the former.
func checkBackend(root field.Field, report reportRule) {
	group, _, _ := strings.Cut(root.Get("apiVersion").Text(), "/")
	spec := root.Get("spec")
	union, release, chosen := spec.Get("backend"), spec.Get("release"), definition.BackendOf(spec)
	if known := chosen.Type == backend.Helm || chosen.Type == backend.Terraform; spec.IsSet() && known && !chosen.Part.IsSet() {
		report(cozystackRequiredRule, chosen.Part, "%s is missing", chosen.Part.Path)
	}
	switch {
	case union.IsSet() && group == kinds.CozystackGroup:
		report(cozystackBackendRule, union, "spec.backend is a proposal, which no release of Cozystack has: its API server refuses the definition, and Flux then applies nothing")
	case union.IsSet() && release.IsSet():
		report(cozystackBackendRule, release, "spec.release has no effect beside spec.backend: remove it once no older Cozystack reads it")
	case release.IsSet() && group != kinds.CozystackGroup:
		report(cozystackBackendRule, release, "spec.release is deprecated: write spec.backend with the type Helm, and the same prefix and chartRef below helm")
	}
}

// checkOpenAPISchema checks the schema of the applications that a definition of Cozystack has as a text.
func checkOpenAPISchema(root field.Field, report reportRule) {
	at := root.Get("spec", "application", "openAPISchema")
	if at.Text() == "" {
		return
	}
	for _, fault := range backendcozystack.SchemaFaults(at.Text()) {
		report(cozystackSchemaRule, at, "%s: %s", at.Path, fault)
	}
}
