// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/lint/field"
)

// platform is what is known of the definitions of an API group.
type platform struct {
	group, version string
	// required is the rule on required fields.
	required string
	root     shape
	// more checks what a shape does not say; nil for nothing.
	more func(root field.Field, report reportRule)
}

// check checks a definition of the platform.
func (p platform) check(root field.Field, report reportRule) {
	schemaCheck{required: p.required, report: report}.value(root, p.root)
	if p.more != nil {
		p.more(root, report)
	}
}

// platforms are those whose definitions are known.
func platforms() []platform {
	return []platform{
		{group: kinds.KKPGroup, version: "v1", required: kkpRequiredRule, root: kkpShape()},
		cozystack(),
	}
}

func cozystack() platform {
	return platform{
		group: kinds.CozystackGroup, version: "v1alpha1", required: cozystackRequiredRule, root: cozystackShape(), more: checkBackend,
	}
}

// object returns the shape of a definition with that spec. What its format states of the rest, the
// catalog is refused for.
func object(spec shape) shape {
	return mapping(map[string]shape{"apiVersion": {}, "kind": {}, "metadata": {}, "spec": spec})
}

// kkpShape has the fields of apps.kubermatic.k8c.io/v1. A required field has no mark where another
// rule asks for it.
func kkpShape() shape {
	text, boolean := shape{kind: textKind}, shape{kind: booleanKind}
	filled := shape{kind: textKind, filled: true}
	texts := shape{kind: mappingKind, elements: &text}
	secretKey := mapping(map[string]shape{"name": {kind: textKind, defaulted: true}, "key!": text, "optional": boolean})
	helmCredentials := mapping(map[string]shape{"username": secretKey, "password": secretKey, "registryConfigFile": secretKey})
	helm := mapping(map[string]shape{
		"url!": filled, "chartName!": filled, "chartVersion!": filled,
		"insecure": boolean, "plainHTTP": boolean, "credentials": helmCredentials,
	})
	git := mapping(map[string]shape{
		"remote!": filled, "path": text,
		"ref":         mapping(map[string]shape{"branch": text, "commit": {kind: textKind, pattern: "^[a-f0-9]{40}$"}, "tag": text}),
		"credentials": mapping(map[string]shape{"method": text, "username": secretKey, "password": secretKey, "token": secretKey, "sshKey": secretKey}),
	})
	version := mapping(map[string]shape{
		"version": {},
		"template": mapping(map[string]shape{
			"source":              mapping(map[string]shape{"helm": helm, "git": git}),
			"templateCredentials": mapping(map[string]shape{"helmCredentials": helmCredentials}),
		}),
	})
	return object(mapping(map[string]shape{
		"description!": text, "displayName": text, "method": text,
		"documentationURL": text, "sourceURL": text, "logo": text, "logoFormat": text,
		"default": boolean, "enforced": boolean, "selector": mapping(map[string]shape{"datacenters": listOf(text)}),
		"defaultVersion": text, "defaultValues": {}, "defaultValuesBlock": text,
		"defaultNamespace": mapping(map[string]shape{"name": text, "create": {kind: booleanKind, defaulted: true}, "labels": texts, "annotations": texts}),
		"defaultDeployOptions": mapping(map[string]shape{
			"helm": mapping(map[string]shape{"atomic": boolean, "enableDNS": boolean, "timeout": text, "wait": boolean}),
		}),
		"versions": {elements: &version},
	}))
}
