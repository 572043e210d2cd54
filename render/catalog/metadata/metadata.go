package catalog

import (
	"path"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// metadata reads the metadata.yaml of an application, which may be absent. One that is misspelt
// is reported: without its tier the application would silently leave selections.
func (a *applications) metadata(found *findings) (Metadata, error) {
	opened, err := a.open(metadataBounds(), found)
	if err != nil {
		return Metadata{}, err
	}
	if opened == nil {
		misspelt := path.Join(path.Dir(found.path), "metadata.yml")
		exists, err := exists(a.fsys, misspelt)
		if exists {
			found.add(0, "is missing: rename %s", misspelt)
		}
		return Metadata{}, err
	}
	if opened.root == nil {
		return Metadata{}, nil
	}
	metadata := parseMetadata(opened.root, found)
	if !a.ledger.keep(opened.size.Nodes*nodeBytes + opened.size.Bytes) {
		return Metadata{}, nil
	}
	return metadata, nil
}

func parseMetadata(root *yaml.Node, found *findings) Metadata {
	var metadata Metadata
	if root.Kind != yaml.MappingNode {
		found.add(root.Line, "must be a mapping, not %s", yamlnode.Describe(root))
		return metadata
	}
	for _, member := range yamlnode.Entries(root) {
		switch member.Name {
		case "tier":
			metadata.Tier = parseTier(member, found)
		case "deprecated":
			metadata.Deprecated = parseDeprecated(member, "the application", found)
		case "labels":
			metadata.Labels = parseStrings(member, checkLabel, found)
		case "annotations":
			metadata.Annotations = parseStrings(member, checkAnnotation, found)
		case VersionsKey:
			metadata.Versions = parseVersions(member, found)
			metadata.keepExtra(member, found)
		default:
			metadata.keepExtra(member, found)
		}
	}
	return metadata
}

func (m *Metadata) keepExtra(member yamlnode.Entry, found *findings) {
	value, err := yamlnode.Plain(member.Value)
	if err != nil {
		found.add(member.Line, "%s: %s", quote(member.Name), err)
		return
	}
	if m.Extra == nil {
		m.Extra = map[string]any{}
	}
	m.Extra[member.Name] = value
}

// parseTier refuses a tier that no selection can name.
func parseTier(member yamlnode.Entry, found *findings) string {
	tier := parseText(member, found)
	if utf8.RuneCountInString(tier) > maxTier {
		found.add(member.Value.Line, "tier %s is longer than %d characters, which no tierRefs can name", quote(tier), maxTier)
	}
	return tier
}

func parseText(member yamlnode.Entry, found *findings) string {
	value, ok := yamlnode.Text(member.Value)
	if !ok {
		found.add(member.Value.Line, "%s must be a string, not %s", member.Name, yamlnode.Describe(member.Value))
	}
	return value
}

// parseDeprecated returns the message of what is deprecated.
func parseDeprecated(member yamlnode.Entry, what string, found *findings) string {
	if member.Value.Kind == yaml.ScalarNode && member.Value.ShortTag() == "!!bool" {
		found.add(member.Value.Line, "%s must be a message that says what to use instead, not a boolean; leave it out when %s is not deprecated", member.Name, what)
		return ""
	}
	return parseText(member, found)
}

// parseStrings reads a mapping of strings to strings; check returns what is wrong with a pair.
func parseStrings(member yamlnode.Entry, check func(key, value string) []string, found *findings) map[string]string {
	if !isMapping(member.Value, member.Name, found) {
		return nil
	}
	pairs := make(map[string]string, len(member.Value.Content)/2)
	for _, pair := range yamlnode.Entries(member.Value) {
		value, ok := yamlnode.Text(pair.Value)
		if !ok {
			found.add(pair.Value.Line, "%s: the value of %s must be a string, not %s", member.Name, quote(pair.Name), yamlnode.Describe(pair.Value))
			continue
		}
		for _, problem := range check(pair.Name, value) {
			found.add(pair.Line, "%s: %s", member.Name, problem)
		}
		pairs[pair.Name] = value
	}
	return pairs
}

// checkLabel holds labels to Kubernetes' rules, because label selectors are matched with them.
func checkLabel(key, value string) []string {
	problems := checkKey(key, validation.IsQualifiedName(key))
	for _, problem := range validation.IsValidLabelValue(value) {
		problems = append(problems, "the value "+quote(value)+" of "+quote(key)+" is not valid: "+problem)
	}
	return problems
}

// checkAnnotation follows the API server, which ignores the case of annotation keys.
func checkAnnotation(key, _ string) []string {
	return checkKey(key, validation.IsQualifiedName(strings.ToLower(key)))
}

func checkKey(key string, reasons []string) []string {
	var problems []string
	for _, reason := range reasons {
		problems = append(problems, "the key "+quote(key)+" is not valid: "+reason)
	}
	return problems
}
