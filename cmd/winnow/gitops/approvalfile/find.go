// SPDX-License-Identifier: Apache-2.0

package approvalfile

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// File is the content of a file with the CatalogSelection that Find has found.
type File struct {
	content   []byte
	documents []*yaml.Node // their contents, without empty documents
	found     selectionNode
}

// selectionNode is a CatalogSelection in a document.
type selectionNode struct {
	document int
	// items are the indices in lists around the object, outermost first.
	items []int
	node  *yaml.Node
}

// maxNames bounds the names that an error lists.
const maxNames = 10

// Find finds the CatalogSelection with the name among the documents of a file and the items of lists, with the
// namespace or without any. It refuses a file that has it several times.
func Find(content []byte, key types.NamespacedName) (*File, error) {
	f := &File{content: content}
	var err error
	if f.documents, err = yamledit.Documents(content); err != nil {
		return nil, err
	}
	var all, matching []selectionNode
	for i, root := range f.documents {
		all = append(all, selectionsIn(selectionNode{document: i, node: root})...)
	}
	for _, p := range all {
		if namespace := p.text("namespace"); p.text("name") == key.Name && (namespace == "" || namespace == key.Namespace) {
			matching = append(matching, p)
		}
	}
	switch {
	case len(matching) == 0:
		return nil, missing(key, all)
	case len(matching) > 1:
		return nil, fmt.Errorf("it has the CatalogSelection %s several times, in lines %d and %d", key, matching[0].node.Line, matching[1].node.Line)
	}
	f.found = matching[0]
	if err := yamledit.CheckPlain(f.documents[f.found.document]); err != nil {
		return nil, err
	}
	return f, nil
}

// selectionsIn returns the CatalogSelections in an object: the object itself, or items of a list.
func selectionsIn(p selectionNode) (all []selectionNode) {
	kind := yamlnode.TextAt(p.node, "kind")
	items := yamlnode.Lookup(p.node, "items")
	if items != nil && items.Kind == yaml.SequenceNode && strings.HasSuffix(kind, "List") {
		for i, item := range items.Content {
			all = append(all, selectionsIn(selectionNode{document: p.document, items: append(slices.Clone(p.items), i), node: item})...)
		}
		return all
	}
	group, _, _ := strings.Cut(yamlnode.TextAt(p.node, "apiVersion"), "/")
	if group == v1alpha1.GroupVersion.Group && kind == v1alpha1.CatalogSelectionKind {
		return []selectionNode{p}
	}
	return nil
}

// text returns a field of the metadata.
func (p selectionNode) text(field string) string { return yamlnode.TextAt(p.node, "metadata", field) }

func missing(key types.NamespacedName, all []selectionNode) error {
	if len(all) == 0 {
		return fmt.Errorf("it has no CatalogSelection, so not %s", key)
	}
	var names []string
	for _, p := range all {
		names = append(names, strings.TrimPrefix(p.text("namespace")+"/"+p.text("name"), "/"))
	}
	return fmt.Errorf("it does not have the CatalogSelection %s, but %s", key, excerpt.List(names, maxNames, excerpt.Quoted))
}

// Line returns the line of the CatalogSelection.
func (f *File) Line() int { return f.found.node.Line }

// lineOf returns the line of an entry, or else the line of the CatalogSelection.
func (f *File) lineOf(entry string) int {
	for _, item := range f.items() {
		if text, _ := yamlnode.Text(yamlnode.Resolve(item)); text == entry {
			return item.Line
		}
	}
	return f.Line()
}

// IsPatch reports whether the file has a merge patch of the selection, without a list.
func (f *File) IsPatch() bool {
	return len(f.Approved()) == 0 && yamlnode.Lookup(yamlnode.Lookup(f.found.node, "spec"), "sources") == nil
}

// Approved returns the entries of spec.safeguards.approve.
func (f *File) Approved() []string {
	var entries []string
	for _, item := range f.items() {
		if text, ok := yamlnode.Text(yamlnode.Resolve(item)); ok {
			entries = append(entries, text)
		}
	}
	return entries
}

// items returns the items of spec.safeguards.approve.
func (f *File) items() []*yaml.Node {
	list := yamlnode.Lookup(yamlnode.Lookup(yamlnode.Lookup(f.found.node, "spec"), "safeguards"), "approve")
	if list == nil {
		return nil
	}
	return list.Content
}
