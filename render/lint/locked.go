// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"slices"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint/corpus"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/spelling"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// unknownLockedValue reports locked values that the default values do not have: they may be misspelt, and a default value of
// the chart itself is compared with nothing.
func unknownLockedValue(c *corpus.Corpus, report corpus.Report) {
	for _, d := range c.Definitions {
		locked := d.Metadata.Get(metadata.LockedKey).Items()
		for _, version := range factsOfVersions(d) {
			locked = append(locked, version.Get(metadata.LockedKey).Items()...)
		}
		values, ok := defaultValues(d)
		if len(locked) == 0 || !ok {
			continue
		}
		for _, at := range locked {
			path, err := metadata.ParseValuePath(at.Text())
			if err != nil {
				continue // the catalog is invalid
			}
			if advice, isKnown := lookUp(values, path); !isKnown {
				report(d, d.MetadataPath, at.Line, "%s has %s, which the default values do not have, so that a change of the chart's own default value is not noticed%s",
					metadata.LockedKey, excerpt.Quoted(at.Text()), advice)
			}
		}
	}
}

// defaultValues returns the default values of a definition of KKP, which may be none; not ok for others, or if it cannot read them.
func defaultValues(d *corpus.Definition) (values field.Field, ok bool) {
	spec := d.Root.Get("spec")
	document, err := dialect.Values([]byte(spec.Get("defaultValuesBlock").Text()))
	switch {
	case d.Group != kinds.KKPGroup || err != nil:
		return field.Field{}, false
	case document == nil:
		return spec.Get("defaultValues"), true
	}
	return field.Root(document.Content[0]), true
}

// lookUp reports whether values have a path, and otherwise what may be meant.
func lookUp(values field.Field, path metadata.ValuePath) (advice string, isKnown bool) {
	at := values.Node
	for i, name := range path {
		found, ok := yamlnode.Find(at, name)
		if !ok {
			names := each.Map(yamlnode.Entries(at), func(member yamlnode.Entry) string { return member.Name })
			if near := spelling.Typo(name, names); near != "" {
				return ": did you mean " + excerpt.Quoted(slices.Concat(path[:i], metadata.ValuePath{near}).String()) + "?", false
			}
			return "", false
		}
		at = found.Value
	}
	return "", true
}
