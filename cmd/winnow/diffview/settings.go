// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// settingsLine lists the paths that are replaced in a live definition, without the values.
func settingsLine(s diff.Settings) string {
	var parts []string
	if f := s.DefaultVersion; f != nil {
		parts = append(parts, "defaultVersion "+fromTo(*f))
	}
	switch {
	case !s.DefaultValues:
	case len(s.ValuesPaths) == 0:
		parts = append(parts, "default values differ, and cannot be compared by field")
	default:
		parts = append(parts, "default values differ in "+excerpt.Names(s.ValuesPaths, maxNames))
	}
	return s.Application + ": " + strings.Join(parts, "; ")
}

// settingsAdvice names the omitFields that keep the settings which values and patches cannot, empty for none.
func settingsAdvice(s diff.Settings) string {
	if len(s.OmitFields) == 0 {
		return ""
	}
	return s.Application + ": only spec.omitFields with " + strings.Join(s.OmitFields, " and ") + " keeps the rest, and leaves it to the cluster of all applications"
}

const keepHeadline = "To keep these, add to spec of the CatalogSelection (live values, which may be secret):"

// settings returns the settings that the publication replaces in live definitions, and the YAML that keeps them. A comment
// has no values, which may be secret: more people read it than the cluster.
func settings(all []diff.Settings, keep string) block {
	b := block{title: wording{"replaced in live definitions:", "Replaced in live definitions:"}, indent: "  "}
	for _, s := range all {
		b.list = append(b.list, entry{text: settingsLine(s)})
		b.sentences = append(b.sentences, wording{terminal: settingsAdvice(s)})
	}
	if keep != "" {
		b.snippets = []snippet{{wording{terminal: keepHeadline}, keep}}
	}
	b.sentences = append(b.sentences, wording{comment: "`-o table` prints the `values` and `patches` that keep these."})
	return b
}

// withoutLive returns an adopted application without the values of the live definition.
func withoutLive(a diff.Application) diff.Application {
	if !a.Adopted {
		return a
	}
	a.Fields = pathsOnly(a.Fields)
	a.Schema = slices.Clone(a.Schema)
	for i := range a.Schema {
		a.Schema[i].From = ""
	}
	a.Versions = slices.Clone(a.Versions)
	for i := range a.Versions {
		a.Versions[i].Fields = pathsOnly(a.Versions[i].Fields)
	}
	if f := a.DefaultNamespace; f != nil {
		a.DefaultNamespace = &pathsOnly([]diff.Field{*f})[0]
	}
	if a.Values != nil {
		values := *a.Values
		values.Diff, values.Omitted = "", 0
		a.Values = &values
	}
	return a
}

func pathsOnly(fields []diff.Field) []diff.Field {
	public := slices.Clone(fields)
	for i, f := range public {
		if f.From != "" {
			public[i].From = "(live)"
		}
	}
	return public
}
