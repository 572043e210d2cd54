// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/kustomize"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// added appends the entries of spec.versions that definitions of later sources add and that stay, with their
// bytes and comments, and in their order.
type added struct{}

func (added) concerns(in Input) bool { return len(in.Application.Merged) > 0 }

func (added) apply(in Input, doc *yamledit.Document, _ *Output) *Error {
	stays := sets.New(in.Versions...)
	for _, m := range in.Application.Merged {
		wanted := stays.Intersection(sets.New(m.Versions...))
		if len(wanted) == 0 {
			continue
		}
		if err := addVersions(doc, m.From, wanted); err != nil {
			return &Error{Field: "spec.sources", Err: fmt.Errorf("merging versions of the source %q: %w", m.Source, err)}
		}
	}
	return nil
}

// addVersions appends the entries of another definition that have one of the versions.
func addVersions(d *yamledit.Document, from *catalog.Application, wanted sets.Set[string]) error {
	other, err := yamledit.Parse(from.Document)
	if err != nil {
		return err
	}
	entries := yamledit.Lookup(yamledit.Lookup(other.Content(), "spec"), "versions")
	if entries == nil || entries.Kind != yaml.SequenceNode {
		return fmt.Errorf("it has no list spec.versions")
	}
	spec := yamledit.Lookup(d.Content(), "spec")
	if spec == nil || spec.Kind != yaml.MappingNode {
		return fmt.Errorf("the document has no spec")
	}
	list := versionList(d, spec)
	end := d.ListEnd(list)
	var text strings.Builder
	for i, entry := range entries.Content {
		if version, ok := yamlnode.Text(yamledit.Lookup(entry, "version")); !ok || !wanted.Has(version) {
			continue
		}
		lines, ok := other.Item(entries, i, end.Indent)
		end.OK = end.OK && ok
		text.WriteString("\n" + lines)
		list.Content = append(list.Content, yamledit.Clone(entry))
	}
	if end.OK {
		d.Splice(end.At, end.At, text.String())
	} else {
		list.Style &^= yaml.FlowStyle
		d.GiveUp()
	}
	if err := d.Flush(); err != nil {
		return err
	}
	return kustomize.CheckDocument(d.Data)
}

// versionList returns the list spec.versions, which it adds where there is none.
func versionList(d *yamledit.Document, spec *yaml.Node) *yaml.Node {
	if list := yamledit.Lookup(spec, "versions"); list != nil && list.Kind == yaml.SequenceNode {
		return list
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	yamledit.Set(spec, "versions", list)
	d.GiveUp()
	return list
}
