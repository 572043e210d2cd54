// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/kustomize"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/catalog/objectmeta"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/identity"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// The document of a definition, which has to be one that Kubernetes, Flux and kustomize carry.

// ItemsField is the field of an object that makes it a list.
const ItemsField = "items"

// formerKind is the kind of definitions of Cozystack before 1.0.
const formerKind = "CozystackResourceDefinition"

// FormerKind returns what a document of a kind is that is no longer a definition; empty for any other kind.
func FormerKind(kind string) string {
	if kind != formerKind {
		return ""
	}
	return "is a " + formerKind + ", which Cozystack has renamed in 1.0: write kind: " + definition.Kind +
		", and spec.release.chartRef in place of chart"
}

// definition reads a document into application. The name stays empty when it is not known; otherwise its
// line is returned.
func (l *loader) definition(read *document.Document, application *Application, found *violation.Findings) (nameLine int) {
	if read == nil || read.Root == nil {
		return 0
	}
	application.Document = read.Data
	if read.Root.Kind != yaml.MappingNode {
		found.Add(read.Root.Line, "must be a mapping, not %s", yamlnode.Describe(read.Root))
		return 0
	}
	if !checkKind(read.Root, application, found) {
		return 0
	}
	kustomize.Check(read, found)
	checkItems(read.Root, found)
	checkAPIVersion(read.Root, application, found)
	nameLine = checkName(read.Root, application, found)
	checkSpec(read.Root, application, found)
	facts(read.Root, application)
	l.ledger.keepFacts(application)
	return nameLine
}

// reuse sets an application to the cached definition with the same bytes, and counts what that costs. It reports
// whether there is one.
func (l *loader) reuse(data []byte, application *Application) (parsedFiles, bool) {
	known, ok := l.cache.definition(data, application)
	if !ok {
		return parsedFiles{}, false
	}
	*application = *known.application
	application.Document = data // the bytes of another revision go with it
	application.Metadata = metadata.Metadata{}
	l.ledger.aliased.Add(int64(known.files.aliased))
	l.ledger.keepFacts(application)
	return parsedFiles{nameLine: known.files.nameLine, aliased: known.files.aliased}, true
}

// checkKind reports whether looking further makes sense.
func checkKind(root *yaml.Node, application *Application, found *violation.Findings) bool {
	node := yamlnode.Lookup(root, "kind")
	kind, ok := document.RequiredText(root, node, "kind", found)
	switch {
	case !ok:
	case kind == "List" || strings.HasSuffix(kind, definition.Kind+"List"):
		found.Add(node.Line, "kind must be %s, not %s: a file holds one object", definition.Kind, excerpt.Quoted(kind))
		return false
	case kind == formerKind:
		found.Add(node.Line, "%s", FormerKind(kind))
	case kind != definition.Kind:
		found.Add(node.Line, "kind must be %s, not %s", definition.Kind, excerpt.Quoted(kind))
	}
	application.Kind = kind
	return true
}

// checkItems refuses the field that makes a list of an object, whatever its kind is: Flux applies the items in its place,
// and deletes the object that it has applied before.
func checkItems(root *yaml.Node, found *violation.Findings) {
	for _, field := range yamlnode.Entries(root) {
		if field.Name == ItemsField {
			found.Add(field.Line, "has the field %s, by which Flux takes it for a list, and applies what is in it instead", ItemsField)
		}
	}
}

func checkAPIVersion(root *yaml.Node, application *Application, found *violation.Findings) {
	node := yamlnode.Lookup(root, "apiVersion")
	apiVersion, ok := document.RequiredText(root, node, "apiVersion", found)
	if !ok {
		return
	}
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok || len(validation.IsDNS1123Subdomain(group)) > 0 || len(validation.IsDNS1035Label(version)) > 0 {
		found.Add(node.Line, "apiVersion must be <group>/<version>, not %s", excerpt.Quoted(apiVersion))
		return
	}
	application.APIVersion, application.Group = apiVersion, group
}

func checkName(root *yaml.Node, application *Application, found *violation.Findings) (line int) {
	metadata := yamlnode.Lookup(root, "metadata")
	if !document.RequiredMapping(root, metadata, "metadata", found) {
		return 0
	}
	objectmeta.Check(metadata, found)
	node := yamlnode.Lookup(metadata, "name")
	name, ok := document.RequiredText(metadata, node, "metadata.name", found)
	if !ok {
		return 0
	}
	switch problems := validation.IsDNS1123Subdomain(name); {
	case len(problems) > 0:
		found.Add(node.Line, "metadata.name %s is not valid: %s", excerpt.Quoted(name), problems[0])
		return 0
	case len(name) > maxName:
		found.Add(node.Line, "metadata.name %s has %d bytes, which no file of the artifact can have with .yaml behind it: shorten it to %d",
			excerpt.Quoted(name), len(name), maxName)
		return 0
	}
	application.Name = name
	return node.Line
}

func checkSpec(root *yaml.Node, application *Application, found *violation.Findings) {
	spec := yamlnode.Lookup(root, "spec")
	if !document.RequiredMapping(root, spec, "spec", found) {
		return
	}
	versions := yamlnode.Lookup(spec, "versions")
	switch {
	case versions == nil:
		return
	case versions.Kind != yaml.SequenceNode:
		found.Add(versions.Line, "spec.versions must be a list, not %s", yamlnode.Describe(versions))
		return
	case len(versions.Content) > metadata.MaxVersions:
		found.Add(versions.Content[metadata.MaxVersions].Line, "spec.versions has %d entries, more than %d: split the application, or drop old versions",
			len(versions.Content), metadata.MaxVersions)
		return
	}
	lines := make(map[string]int, len(versions.Content))
	for i, element := range versions.Content {
		version, line, ok := checkVersion(yamlnode.Resolve(element), i, found)
		if !ok {
			continue
		}
		if first, twice := lines[version]; twice {
			found.AddTo(violation.RuleDuplicateVersion, line, "spec.versions has %s twice, first in line %d", excerpt.Quoted(version), first)
			continue
		}
		lines[version] = line
		application.Versions = append(application.Versions, version)
	}
}

func checkVersion(element *yaml.Node, index int, found *violation.Findings) (version string, line int, ok bool) {
	if element.Kind != yaml.MappingNode {
		found.Add(element.Line, "spec.versions[%d] must be a mapping, not %s", index, yamlnode.Describe(element))
		return "", 0, false
	}
	node := yamlnode.Lookup(element, "version")
	switch version, ok = yamlnode.Text(node); {
	case node == nil:
		found.Add(element.Line, "spec.versions[%d].version is missing", index)
	case node.Kind == yaml.ScalarNode && (node.ShortTag() == "!!float" || node.ShortTag() == "!!int"):
		found.Add(node.Line, "spec.versions[%d].version must be a string: put %s in quotes", index, excerpt.Quoted(node.Value))
	case !ok || version == "":
		found.Add(node.Line, "spec.versions[%d].version must be a string that is not empty", index)
	case len(version) > maxVersion:
		found.Add(node.Line, "spec.versions[%d].version %s has %d bytes, more than %d", index, excerpt.Quoted(version), len(version), maxVersion)
	default:
		return version, node.Line, true
	}
	return "", 0, false
}

// What a definition says that others want to know.

// facts notes what others want to know of a document without parsing it again.
func facts(root *yaml.Node, application *Application) {
	document := definition.Node{Node: root}
	application.Identity = identity.Of(document)
	application.Labels = stringMap(document.Get("metadata", "labels").Node)
	application.Annotations = stringMap(document.Get("metadata", "annotations").Node)
	spec := document.Get("spec")
	if method := spec.Get("method").Text(); len(method) <= maxMethod {
		application.Method = method
	}
	if version := definition.DefaultVersion(spec); len(version) <= maxVersion {
		application.DefaultVersion = version
	}
	for _, field := range yamlnode.Entries(spec.Node) {
		application.SpecFields = append(application.SpecFields, field.Name)
	}
	if kind := definition.ApplicationKind(spec); kind.Node != nil && application.OfCozystack() {
		application.installs = installed{kind: kind.Text(), line: kind.Line}
	}
}

// stringMap returns nil for what is not a mapping of strings, or empty.
func stringMap(node *yaml.Node) map[string]string {
	if node == nil || node.Kind != yaml.MappingNode || len(node.Content) == 0 {
		return nil
	}
	all := make(map[string]string, len(node.Content)/2)
	for _, member := range yamlnode.Entries(node) {
		value, ok := yamlnode.Text(member.Value)
		if !ok {
			return nil
		}
		all[member.Name] = value
	}
	return all
}

// maxMethod bounds the method of an application in bytes: it is recorded. KKP knows helm and git.
const maxMethod = 63
