package catalog

import (
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// ItemsField is the field of an object that makes it a list.
const ItemsField = "items"

const (
	definitionKind = "ApplicationDefinition"
	// maxName bounds a name in bytes: in the artifact it is that of a file, which has at most 255.
	maxName = 255 - len(".yaml")
	// maxVersions of an application: everything that looks at versions looks at all of them.
	maxVersions = 1000
	// maxVersion and maxTier bound what conditions and the API repeat.
	maxVersion = 253
	maxTier    = 63
)

// definition reads a document into application. The name stays empty when it is not known; otherwise its
// line is returned.
func (l *loader) definition(read *file, application *Application, found *findings) (nameLine int) {
	if read == nil || read.root == nil {
		return 0
	}
	application.Document = read.data
	if read.root.Kind != yaml.MappingNode {
		found.add(read.root.Line, "must be a mapping, not %s", yamlnode.Describe(read.root))
		return 0
	}
	if !checkKind(read.root, application, found) {
		return 0
	}
	checkLines(read.data, found)
	checkKustomize(read, found)
	checkItems(read.root, found)
	checkAPIVersion(read.root, application, found)
	nameLine = checkName(read.root, application, found)
	checkSpec(read.root, application, found)
	facts(read.root, application)
	l.ledger.keepFacts(application)
	return nameLine
}

// checkKind reports whether looking further makes sense.
func checkKind(root *yaml.Node, application *Application, found *findings) bool {
	node := yamlnode.Lookup(root, "kind")
	kind, ok := requiredText(root, node, "kind", found)
	switch {
	case !ok:
	case kind == "List" || strings.HasSuffix(kind, definitionKind+"List"):
		found.add(node.Line, "kind must be %s, not %s: a file holds one object", definitionKind, quote(kind))
		return false
	case kind != definitionKind:
		found.add(node.Line, "kind must be %s, not %s", definitionKind, quote(kind))
	}
	application.Kind = kind
	return true
}

// checkItems refuses the field that makes a list of an object, whatever its kind is: Flux applies the items in its place,
// and deletes the object that it has applied before.
func checkItems(root *yaml.Node, found *findings) {
	for _, field := range yamlnode.Entries(root) {
		if field.Name == ItemsField {
			found.add(field.Line, "has the field %s, by which Flux takes it for a list, and applies what is in it instead", ItemsField)
		}
	}
}

func checkAPIVersion(root *yaml.Node, application *Application, found *findings) {
	node := yamlnode.Lookup(root, "apiVersion")
	apiVersion, ok := requiredText(root, node, "apiVersion", found)
	if !ok {
		return
	}
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok || len(validation.IsDNS1123Subdomain(group)) > 0 || len(validation.IsDNS1035Label(version)) > 0 {
		found.add(node.Line, "apiVersion must be <group>/<version>, not %s", quote(apiVersion))
		return
	}
	application.APIVersion, application.Group = apiVersion, group
}

func checkName(root *yaml.Node, application *Application, found *findings) (line int) {
	metadata := yamlnode.Lookup(root, "metadata")
	if !requiredMapping(root, metadata, "metadata", found) {
		return 0
	}
	checkObjectMeta(metadata, found)
	node := yamlnode.Lookup(metadata, "name")
	name, ok := requiredText(metadata, node, "metadata.name", found)
	if !ok {
		return 0
	}
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		found.add(node.Line, "metadata.name %s is not valid: %s", quote(name), problems[0])
		return 0
	}
	if len(name) > maxName {
		found.add(node.Line, "metadata.name %s has %d bytes, which no file of the artifact can have with .yaml behind it: shorten it to %d",
			quote(name), len(name), maxName)
		return 0
	}
	application.Name = name
	return node.Line
}

func checkSpec(root *yaml.Node, application *Application, found *findings) {
	spec := yamlnode.Lookup(root, "spec")
	if !requiredMapping(root, spec, "spec", found) {
		return
	}
	versions := yamlnode.Lookup(spec, "versions")
	if versions == nil {
		return
	}
	if versions.Kind != yaml.SequenceNode {
		found.add(versions.Line, "spec.versions must be a list, not %s", yamlnode.Describe(versions))
		return
	}
	if n := len(versions.Content); n > maxVersions {
		found.add(versions.Content[maxVersions].Line, "spec.versions has %d entries, more than %d: split the application, or drop old versions",
			n, maxVersions)
		return
	}
	lines := make(map[string]int, len(versions.Content))
	for i, element := range versions.Content {
		version, line, ok := checkVersion(yamlnode.Resolve(element), i, found)
		if !ok {
			continue
		}
		if first, twice := lines[version]; twice {
			found.addTo(RuleDuplicateVersion, line, "spec.versions has %s twice, first in line %d", quote(version), first)
			continue
		}
		lines[version] = line
		application.Versions = append(application.Versions, version)
	}
}

func checkVersion(element *yaml.Node, index int, found *findings) (version string, line int, ok bool) {
	if element.Kind != yaml.MappingNode {
		found.add(element.Line, "spec.versions[%d] must be a mapping, not %s", index, yamlnode.Describe(element))
		return "", 0, false
	}
	node := yamlnode.Lookup(element, "version")
	switch {
	case node == nil:
		found.add(element.Line, "spec.versions[%d].version is missing", index)
		return "", 0, false
	case node.Kind == yaml.ScalarNode && (node.ShortTag() == "!!float" || node.ShortTag() == "!!int"):
		found.add(node.Line, "spec.versions[%d].version must be a string: put %s in quotes", index, quote(node.Value))
		return "", 0, false
	}
	version, ok = yamlnode.Text(node)
	if !ok || version == "" {
		found.add(node.Line, "spec.versions[%d].version must be a string that is not empty", index)
		return "", 0, false
	}
	if len(version) > maxVersion {
		found.add(node.Line, "spec.versions[%d].version %s has %d bytes, more than %d", index, quote(version), len(version), maxVersion)
		return "", 0, false
	}
	return version, node.Line, true
}

// requiredText returns the string of a member, or reports why parent has none.
func requiredText(parent, node *yaml.Node, name string, found *findings) (string, bool) {
	if node == nil {
		found.add(parent.Line, "%s is missing", name)
		return "", false
	}
	value, ok := yamlnode.Text(node)
	switch {
	case !ok:
		found.add(node.Line, "%s must be a string, not %s", name, yamlnode.Describe(node))
	case value == "":
		found.add(node.Line, "%s must not be empty", name)
	}
	return value, ok && value != ""
}

// requiredMapping reports whether a member is a mapping, and otherwise what is wrong.
func requiredMapping(parent, node *yaml.Node, name string, found *findings) bool {
	if node == nil {
		found.add(parent.Line, "%s is missing", name)
		return false
	}
	return isMapping(node, name, found)
}
