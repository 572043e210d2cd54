// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// What a definition says that others want to know.

// facts notes what others want to know of a document without parsing it again.
func facts(root *yaml.Node, application *Application) {
	application.Identity = IdentityOf(root)
	metadata := yamlnode.Lookup(root, "metadata")
	application.Labels = stringMap(yamlnode.Lookup(metadata, "labels"))
	application.Annotations = stringMap(yamlnode.Lookup(metadata, "annotations"))
	spec := yamlnode.Lookup(root, "spec")
	if spec == nil || spec.Kind != yaml.MappingNode {
		return
	}
	if method, ok := yamlnode.Text(yamlnode.Lookup(spec, "method")); ok && len(method) <= maxMethod {
		application.Method = method
	}
	if version, ok := yamlnode.Text(yamlnode.Lookup(spec, "defaultVersion")); ok && len(version) <= maxVersion {
		application.DefaultVersion = version
	}
	for _, field := range yamlnode.Entries(spec) {
		application.SpecFields = append(application.SpecFields, field.Name)
	}
	if node := yamlnode.Lookup(yamlnode.Lookup(spec, "application"), "kind"); node != nil && application.OfCozystack() {
		kind, _ := yamlnode.Text(node)
		application.installs = installed{kind: kind, line: node.Line}
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
