// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/value"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// The spec of an application, which is not kept once it is loaded.

// Spec parses the document again and returns its spec in JSON's types, as Metadata's Extra has them, with the merged versions; a
// content has an empty one. It is for callers that need all of it; the fields of Application cost nothing. The result is the
// caller's own.
func (a *Application) Spec() (map[string]any, error) {
	if !a.IsObject() {
		return map[string]any{}, nil
	}
	spec, err := a.ownSpec()
	if err != nil {
		return nil, err
	}
	return spec, a.mergeSpec(spec)
}

// ownSpec is Spec without the merged versions.
func (a *Application) ownSpec() (map[string]any, error) {
	found := violation.Findings{Path: a.Path, Above: a.Above}
	root := document.Parse(a.Document, yamlnode.MaxAliased, &found).Root
	if root == nil {
		return nil, fmt.Errorf("reading spec: %w", &violation.InvalidError{Violations: found.Kept, Omitted: found.Omitted})
	}
	node := yamlnode.Lookup(root, "spec")
	if node == nil {
		return nil, fmt.Errorf("reading spec of %s: there is none", a.Path)
	}
	value, err := yamlnode.Plain(node)
	if err != nil {
		return nil, fmt.Errorf("reading spec of %s: %w", a.Path, err)
	}
	spec, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("reading spec of %s: it is not a mapping", a.Path)
	}
	return spec, nil
}

// mergeSpec adds the entries of merged versions to a parsed spec.
func (a *Application) mergeSpec(spec map[string]any) error {
	for _, added := range a.Merged {
		other, err := added.From.ownSpec()
		if err != nil {
			return fmt.Errorf("reading the versions of the source %s: %w", added.Source, err)
		}
		own, _ := spec["versions"].([]any)
		for _, version := range definition.Versions(value.Of(other)) {
			if slices.Contains(added.Versions, version.Name) {
				own = append(own, version.Entry.Content)
			}
		}
		spec["versions"] = own
	}
	return nil
}
