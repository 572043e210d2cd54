// SPDX-License-Identifier: Apache-2.0

// Package metadata is what a catalog states about an application beside its definition: its tier, labels, annotations and
// deprecation, and the facts on its versions.
//
// It must not know definitions, nor how the file is found.
package metadata

import (
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/objectmeta"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// maxTier bounds a tier in characters, as the API does.
const maxTier = 63

// Metadata is what a catalog states about an application.
type Metadata struct {
	// Tier of the application. Case matters.
	Tier string
	// Labels have keys and values that are valid in Kubernetes.
	Labels map[string]string
	// Annotations have keys that are valid in Kubernetes.
	Annotations map[string]string
	// Deprecated is the message of a deprecated application, otherwise empty.
	Deprecated string
	// LockedValues are the paths of values that must not change once an instance was published, as ParseValuePath reads them.
	LockedValues []string
	// Versions has the facts on versions; the application may lack some.
	Versions Versions
	// Extra holds the keys that have no meaning here, LockedKey and VersionsKey, in JSON's types:
	// map[string]any, []any, string, bool, int64, float64 and nil. Timestamps are strings.
	Extra map[string]any
}

// Parse returns the content of a metadata.yaml, as far as it is valid, and adds to found what is not.
func Parse(root *yaml.Node, found *violation.Findings) Metadata {
	var metadata Metadata
	if root.Kind != yaml.MappingNode {
		found.Add(root.Line, "must be a mapping, not %s", yamlnode.Describe(root))
		return metadata
	}
	RefuseBooleans(root, found)
	for _, member := range yamlnode.Entries(root) {
		switch member.Name {
		case "tier":
			metadata.Tier = parseTier(member, found)
		case "deprecated":
			metadata.Deprecated = parseDeprecated(member, "the application", found)
		case "labels":
			metadata.Labels = document.Strings(member, objectmeta.LabelProblems, found)
		case "annotations":
			metadata.Annotations = document.Strings(member, objectmeta.AnnotationProblems, found)
		case LockedKey:
			metadata.LockedValues = parseLocked(member, found)
			metadata.keepExtra(member, found)
		case VersionsKey:
			metadata.Versions = parseVersions(member, found)
			metadata.keepExtra(member, found)
		default:
			metadata.keepExtra(member, found)
		}
	}
	return metadata
}

// RefuseBooleans reports the texts of a file that other readers, and most people, take for booleans.
func RefuseBooleans(root *yaml.Node, found *violation.Findings) {
	dialect.EachBoolean(root, func(node *yaml.Node, of string) {
		if of == "deprecated" {
			return // is a message, which has advice of its own
		}
		found.Add(node.Line, "%s is a text here, and a boolean for other readers of YAML: write true or false, or put it in quotes", excerpt.Quoted(node.Value))
	})
}

func (m *Metadata) keepExtra(member yamlnode.Entry, found *violation.Findings) {
	value, err := yamlnode.Plain(member.Value)
	if err != nil {
		found.Add(member.Line, "%s: %s", excerpt.Quoted(member.Name), err)
		return
	}
	if m.Extra == nil {
		m.Extra = map[string]any{}
	}
	m.Extra[member.Name] = value
}

// parseTier refuses a tier that no selection can name.
func parseTier(member yamlnode.Entry, found *violation.Findings) string {
	tier := document.Text(member, found)
	if utf8.RuneCountInString(tier) > maxTier {
		found.Add(member.Value.Line, "tier %s is longer than %d characters, which no tierRefs can name", excerpt.Quoted(tier), maxTier)
	}
	return tier
}
