// SPDX-License-Identifier: Apache-2.0

package document

import (
	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// The fields of documents: each function reads one, and adds to found what is wrong with it.

// RequiredText returns the string of the member name of parent, or reports why there is none. The node is nil when it is
// missing.
func RequiredText(parent, node *yaml.Node, name string, found *violation.Findings) (string, bool) {
	if node == nil {
		found.Add(parent.Line, "%s is missing", name)
		return "", false
	}
	value, ok := yamlnode.Text(node)
	switch {
	case !ok:
		found.Add(node.Line, "%s must be a string, not %s", name, yamlnode.Describe(node))
	case value == "":
		found.Add(node.Line, "%s must not be empty", name)
	}
	return value, ok && value != ""
}

// RequiredMapping reports whether the member name of parent is a mapping, and adds to found why it is not. The node is nil
// when it is missing.
func RequiredMapping(parent, node *yaml.Node, name string, found *violation.Findings) bool {
	if node == nil {
		found.Add(parent.Line, "%s is missing", name)
		return false
	}
	return IsMapping(node, name, found)
}

// IsMapping reports whether a node is a mapping, and adds to found that the field name is none.
func IsMapping(node *yaml.Node, name string, found *violation.Findings) bool {
	if node.Kind == yaml.MappingNode {
		return true
	}
	found.Add(node.Line, "%s must be a mapping, not %s", name, yamlnode.Describe(node))
	return false
}

// Text returns the string of a member; without one, it is empty, and found explains why.
func Text(member yamlnode.Entry, found *violation.Findings) string {
	value, ok := yamlnode.Text(member.Value)
	if !ok {
		found.Add(member.Value.Line, "%s must be a string, not %s", member.Name, yamlnode.Describe(member.Value))
	}
	return value
}

// Strings returns a mapping of strings to strings, without the pairs that are none; check returns what is wrong with a pair.
func Strings(member yamlnode.Entry, check func(key, value string) []string, found *violation.Findings) map[string]string {
	if !IsMapping(member.Value, member.Name, found) {
		return nil
	}
	pairs := make(map[string]string, len(member.Value.Content)/2)
	for _, pair := range yamlnode.Entries(member.Value) {
		value, ok := yamlnode.Text(pair.Value)
		if !ok {
			found.Add(pair.Value.Line, "%s: the value of %s must be a string, not %s", member.Name, excerpt.Quoted(pair.Name), yamlnode.Describe(pair.Value))
			continue
		}
		for _, problem := range check(pair.Name, value) {
			found.Add(pair.Line, "%s: %s", member.Name, problem)
		}
		pairs[pair.Name] = value
	}
	return pairs
}
