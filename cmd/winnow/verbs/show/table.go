// SPDX-License-Identifier: Apache-2.0

package show

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/each"
)

// Table is part of output.Table.
func (s *shownApplication) Table(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n%s\n", plaintext.Line(s.Name), plaintext.Wrap(s.Catalog, ""))
	if s.Digest != "" {
		fmt.Fprintf(w, "  digest: %s\n", plaintext.Line(s.Digest)) // in one line, for copying
	}
	d := s.Definition
	output.PrintFacts(w, "  ", "path", d.Path, "object", strings.TrimSuffix(d.Kind+" of "+d.APIVersion, " of "),
		"tier", d.Tier, "deprecated", d.Deprecated, "labels", pairsOf(d.Labels),
		"annotations", pairsOf(d.Annotations), "lists", strings.Join(s.Lists, ", "),
		"object labels", pairsOf(d.ObjectLabels), "object annotations", pairsOf(d.ObjectAnnotations),
		"method", d.Method, "default version", d.DefaultVersion)
	output.PrintFacts(w, "  ", d.Package.facts()...)
	for _, others := range []struct {
		label string
		all   map[string]any
	}{{"metadata", d.Metadata}, {"spec", d.Fields}} {
		for _, key := range slices.Sorted(maps.Keys(others.all)) {
			output.PrintFacts(w, "  ", others.label+"."+key, textOf(others.all[key]))
		}
	}
	output.PrintFacts(w, "  ", "images", strings.Join(imagesOf(s.References), ", "), "values", s.Unsearched)
	if len(d.Versions) > 0 {
		g := output.Grid{Header: []string{"VERSION", "CHART", "FACTS"}}
		for _, v := range d.Versions {
			g.Rows = append(g.Rows, []string{v.Version, output.OrDash(chartText(v.Chart)), output.OrDash(textOf(v.Facts))})
		}
		if d.Package != nil {
			g = d.packageVersions()
		}
		var text strings.Builder
		g.Print(&text)
		fmt.Fprintln(w)
		for line := range strings.Lines(text.String()) {
			fmt.Fprint(w, "  "+line)
		}
	}
	if strings.TrimSpace(d.DefaultValues) == "" {
		return
	}
	fmt.Fprint(w, "\n  default values:\n")
	for line := range strings.Lines(d.DefaultValues) {
		fmt.Fprintln(w, strings.TrimRight("    "+plaintext.Printable(line), " "))
	}
}

func imagesOf(r *report.References) []string {
	var all []string
	if r != nil {
		for _, image := range r.Images {
			all = append(all, image.From)
		}
	}
	return all
}

// chartText returns a chart in a few words.
func chartText(c *report.Chart) string {
	if c == nil {
		return ""
	}
	parts := []string{c.From, c.Name, c.Version, c.Tag, c.Branch, c.Commit}
	return redact.Users(strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " "))
}

func pairsOf(all map[string]string) string {
	pairs := each.Map(slices.Sorted(maps.Keys(all)), func(key string) string { return key + "=" + all[key] })
	return strings.Join(pairs, ", ")
}

// textOf returns a value in one line: a text as it is, and everything else as JSON; empty for an empty mapping.
func textOf(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	if mapping, ok := value.(map[string]any); ok && len(mapping) == 0 {
		return ""
	}
	content, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(content)
}

// packageVersions returns the versions of a package of operators with the names of their bundles.
func (d shownDefinition) packageVersions() output.Grid {
	g := output.Grid{Header: []string{"VERSION", "NAME", "CHANNELS", "DEPRECATED"}}
	for _, v := range d.Versions {
		g.Rows = append(g.Rows, []string{v.Number, v.Version, output.OrDash(strings.Join(v.Channels, ", ")), output.OrDash(plaintext.Brief(v.Deprecated, 30))})
	}
	return g
}
