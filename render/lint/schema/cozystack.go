// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"strings"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/identity"
	"github.com/winnow-dev/winnow/render/lint/field"
)

// cozystackShape has the fields of cozystack.io/v1alpha1, and those of the backends in Cozystack's proposal.
func cozystackShape() shape {
	text, boolean := shape{kind: textKind}, shape{kind: booleanKind}
	filled := shape{kind: textKind, filled: true}
	texts := shape{kind: mappingKind, elements: &text}
	expression := mapping(map[string]shape{"key!": text, "operator!": text, "values": listOf(text)})
	selector := mapping(map[string]shape{"matchExpressions": listOf(expression), "matchLabels": texts, "resourceNames": listOf(text)})
	resources := mapping(map[string]shape{"include": listOf(selector), "exclude": listOf(selector)})
	check := mapping(map[string]shape{"apiVersion!": text, "kind!": text, "current!": text, "failed": text, "inProgress": text})
	reference := func(kinds ...string) shape {
		return mapping(map[string]shape{"apiVersion": text, "kind!": {kind: textKind, choices: kinds}, "name!": filled, "namespace": filled})
	}
	chart, prefix := reference("OCIRepository", "HelmChart", "ExternalArtifact"), shape{kind: textKind, pattern: "^[a-z0-9-]*$"}
	values := mapping(map[string]shape{
		"kind!": {kind: textKind, choices: []string{"ConfigMap", "Secret"}}, "name!": filled,
		"valuesKey": text, "targetPath": text, "literal": boolean, "optional": boolean,
	})
	return object(mapping(map[string]shape{
		"application!": mapping(map[string]shape{"kind!": text, "plural!": text, "singular!": text, "openAPISchema!": text}),
		"release": mapping(map[string]shape{
			"chartRef!": chart, "prefix!": prefix, "labels": texts, "healthCheckExprs": listOf(check),
			"waitStrategy": {kind: textKind, choices: []string{"poller", "legacy"}},
		}),
		"backend": mapping(map[string]shape{
			"type!": {kind: textKind, choices: []string{backend.Helm, backend.Terraform}},
			"helm":  mapping(map[string]shape{"chartRef!": chart, "prefix": prefix, "labels": texts, "valuesFrom": listOf(values)}),
			"terraform": mapping(map[string]shape{
				"sourceRef!": reference("GitRepository", "Bucket", "OCIRepository"), "path": text, "prefix": prefix, "labels": texts,
				"interval": text, "approvePlan": text, "destroyResourcesOnDeletion": boolean, "runnerPodTemplate": {kind: mappingKind},
				"writeOutputsToSecret": mapping(map[string]shape{"name!": text, "outputs": listOf(text), "labels": texts, "annotations": texts}),
			}),
		}),
		"secrets": resources, "services": resources, "ingresses": resources,
		"dashboard": mapping(map[string]shape{
			"category!": text, "singular!": text, "plural!": text, "name": text, "description": text, "icon": text,
			"module": boolean, "singularResource": boolean, "weight": {kind: integerKind},
			"keysOrder": listOf(listOf(text)), "tags": listOf(text),
			"tabs": listOf(shape{kind: textKind, choices: []string{"workloads", "ingresses", "services", "secrets", "yaml"}}),
		}),
	}))
}

// checkBackend checks which of spec.release and spec.backend a definition of Cozystack has. Its releases know the former
// alone; the latter is a proposal, which deprecates the former.
func checkBackend(root field.Field, report reportRule) {
	group, _, _ := strings.Cut(root.Get("apiVersion").Text(), "/")
	spec := root.Get("spec")
	union, release, chosen := spec.Get("backend"), spec.Get("release"), identity.BackendOf(spec, field.Field.Text)
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
