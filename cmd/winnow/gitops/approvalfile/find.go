// SPDX-License-Identifier: Apache-2.0

package approvalfile

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// File is the content of a file with the CatalogSelection that Find has found.
type File struct {
	content   []byte
	documents []*yaml.Node // their contents, without empty documents
	found     yamledit.Object
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
	all := yamledit.Objects(f.documents, v1alpha1.GroupVersion.Group, v1alpha1.CatalogSelectionKind)
	matching := slices.DeleteFunc(slices.Clone(all), func(o yamledit.Object) bool {
		namespace := text(o, "namespace")
		return text(o, "name") != key.Name || namespace != "" && namespace != key.Namespace
	})
	switch {
	case len(matching) == 0:
		return nil, missing(key, all)
	case len(matching) > 1:
		return nil, fmt.Errorf("it has the CatalogSelection %s several times, in lines %d and %d", key, matching[0].Node.Line, matching[1].Node.Line)
	}
	f.found = matching[0]
	return f, f.found.CheckPlain(f.documents)
}

// text returns a text of the metadata of a selection.
func text(o yamledit.Object, field string) string { return yamlnode.TextAt(o.Node, "metadata", field) }

func missing(key types.NamespacedName, all []yamledit.Object) error {
	if len(all) == 0 {
		return fmt.Errorf("it has no CatalogSelection, so not %s", key)
	}
	names := each.Map(all, func(o yamledit.Object) string {
		return strings.TrimPrefix(text(o, "namespace")+"/"+text(o, "name"), "/")
	})
	return fmt.Errorf("it does not have the CatalogSelection %s, but %s", key, excerpt.List(names, maxNames, excerpt.Quoted))
}

// Line returns the line of the CatalogSelection.
func (f *File) Line() int { return f.found.Node.Line }

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
	return len(f.Approved()) == 0 && yamlnode.Lookup(yamlnode.Lookup(f.found.Node, "spec"), "sources") == nil
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
	list := yamlnode.Lookup(yamlnode.Lookup(yamlnode.Lookup(f.found.Node, "spec"), "safeguards"), "approve")
	if list == nil {
		return nil
	}
	return list.Content
}
