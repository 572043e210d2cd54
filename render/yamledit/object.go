// SPDX-License-Identifier: Apache-2.0

package yamledit

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Object is an object of Kubernetes in the documents of a file.
type Object struct {
	Node *yaml.Node

	// document is the index of its document, and items are the indices in lists around it, outermost first.
	document int
	items    []int
}

// Objects returns the objects of a group and a kind among documents, which Documents returned, and the items of lists.
func Objects(documents []*yaml.Node, group, kind string) []Object {
	var all []Object
	for i, document := range documents {
		for _, o := range (Object{Node: document, document: i}).unlisted() {
			its, _, _ := strings.Cut(yamlnode.TextAt(o.Node, "apiVersion"), "/")
			if its == group && yamlnode.TextAt(o.Node, "kind") == kind {
				all = append(all, o)
			}
		}
	}
	return all
}

// unlisted returns the items of a list, or else the object.
func (o Object) unlisted() (all []Object) {
	items := yamlnode.Lookup(o.Node, "items")
	if items == nil || items.Kind != yaml.SequenceNode || !strings.HasSuffix(yamlnode.TextAt(o.Node, "kind"), "List") {
		return []Object{o}
	}
	for i, item := range items.Content {
		all = append(all, Object{item, o.document, append(slices.Clone(o.items), i)}.unlisted()...)
	}
	return all
}

// CheckPlain returns ErrEncrypted if the document of the object must not be edited.
func (o Object) CheckPlain(documents []*yaml.Node) error { return CheckPlain(documents[o.document]) }

// Proves reports whether an edited text differs from the documents by the value, in the types of Plain, at a path of the object
// alone.
func (o Object) Proves(edited []byte, documents []*yaml.Node, value any, path ...string) (bool, error) {
	wanted, err := Plain(documents)
	if err != nil {
		return false, err
	}
	return o.set(wanted[o.document], value, path) && Proves(edited, wanted), nil
}

// set sets a value of the object in a document.
func (o Object) set(document, value any, path []string) bool {
	for _, i := range o.items {
		list, _ := document.(map[string]any)
		items, _ := list["items"].([]any)
		if i >= len(items) {
			return false
		}
		document = items[i]
	}
	fields, ok := document.(map[string]any)
	if !ok {
		return false
	}
	last := len(path) - 1
	for _, key := range path[:last] {
		next, there := fields[key].(map[string]any)
		if !there {
			next = map[string]any{}
			fields[key] = next
		}
		fields = next
	}
	fields[path[last]] = value
	return true
}
