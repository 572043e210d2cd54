// SPDX-License-Identifier: Apache-2.0

package show

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
)

// Table prints the definitions of an application, and then what selections decide.
func (s *shownApplication) Table(w io.Writer) {
	fmt.Fprintln(w, plaintext.Line(s.Name))
	for _, d := range s.Definitions {
		fmt.Fprintln(w)
		d.table(w)
	}
	values := ""
	if len(s.Definitions) > 0 {
		values = s.Definitions[0].DefaultValues
	}
	for _, one := range s.Selections {
		fmt.Fprintln(w)
		one.table(w, values)
	}
}

// facts prints lines of a label and a text, without those that are empty.
func facts(w io.Writer, all ...[2]string) {
	for _, fact := range all {
		if plaintext.Line(fact[1]) != "" {
			fmt.Fprintln(w, plaintext.Wrap(fact[0]+": "+fact[1], "  "))
		}
	}
}

func (d shownDefinition) table(w io.Writer) {
	place := d.Catalog
	if d.Source != "" {
		place = "source " + d.Source + ", " + place
	}
	fmt.Fprintln(w, plaintext.Wrap(place, ""))
	if d.Digest != "" {
		fmt.Fprintf(w, "  digest: %s\n", plaintext.Line(d.Digest)) // in one line, for copying
	}
	facts(w, [2]string{"path", d.Path}, [2]string{"object", strings.TrimSuffix(d.Kind+" of "+d.APIVersion, " of ")},
		[2]string{"tier", d.Tier}, [2]string{"deprecated", d.Deprecated}, [2]string{"labels", pairsOf(d.Labels)},
		[2]string{"annotations", pairsOf(d.Annotations)}, [2]string{"lists", strings.Join(d.Lists, ", ")},
		[2]string{"object labels", pairsOf(d.ObjectLabels)}, [2]string{"object annotations", pairsOf(d.ObjectAnnotations)},
		[2]string{"method", d.Method}, [2]string{"default version", d.DefaultVersion})
	facts(w, d.Package.facts()...)
	for _, others := range []struct {
		label string
		all   map[string]any
	}{{"metadata", d.Metadata}, {"spec", d.Fields}} {
		for _, key := range slices.Sorted(maps.Keys(others.all)) {
			facts(w, [2]string{others.label + "." + key, textOf(others.all[key])})
		}
	}
	facts(w, [2]string{"images", strings.Join(imagesOf(d.References), ", ")}, [2]string{"values", d.Unsearched})
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
	valuesTable(w, "default values", d.DefaultValues)
}

func valuesTable(w io.Writer, label, values string) {
	if strings.TrimSpace(values) == "" {
		return
	}
	fmt.Fprintf(w, "\n  %s:\n", label)
	for line := range strings.Lines(values) {
		fmt.Fprintln(w, strings.TrimRight("    "+plaintext.Printable(line), " "))
	}
}

// table prints the decision, and the default values of the artifact where they differ from these.
func (s shownSelection) table(w io.Writer, values string) {
	name := cmp.Or(s.Namespace, "default") + "/" + s.Name
	if s.File != "" {
		name += " (" + s.File + ")"
	}
	switch {
	case s.Decision == nil:
		fmt.Fprintln(w, plaintext.Wrap(name+": no source has it", ""))
		return
	case s.Decision.Selected:
		fmt.Fprintln(w, plaintext.Wrap(fmt.Sprintf("%s: in, of the source %s: %s", name, s.Decision.Source, s.Decision.Reason), ""))
	default:
		fmt.Fprintln(w, plaintext.Wrap(fmt.Sprintf("%s: left out by %s: %s", name, s.Decision.Rule, s.Decision.Reason), ""))
	}
	added := ""
	if len(s.Decision.Merged) > 0 {
		added = report.MergedColumn(s.Decision.Merged)
	}
	facts(w, [2]string{"versions", strings.Join(report.LabelsOf(s.Decision.Versions, s.Decision.Facts), ", ")}, [2]string{"versions merged", added},
		[2]string{"versions dropped", strings.Join(report.LabelsOf(s.Decision.Dropped, s.Decision.Facts), ", ")}, [2]string{"default version", s.DefaultVersion},
		[2]string{"shadowed in", strings.Join(s.Shadowed, ", ")}, [2]string{"refused by the limit of", strings.Join(s.Limited, ", ")})
	if s.Decision.Selected {
		for _, line := range s.Decision.Package.Lines() {
			label, text, _ := strings.Cut(line, ": ")
			facts(w, [2]string{label, text})
		}
	}
	for _, repair := range report.RepairLines(s.Decision.Repairs) {
		facts(w, [2]string{"repair", repair})
	}
	for _, moved := range s.movedText() {
		facts(w, [2]string{"mirrored", moved})
	}
	if s.DefaultValues != values {
		valuesTable(w, "default values in the artifact", s.DefaultValues)
	}
}

// movedText returns the addresses that mirrors rewrite.
func (s shownSelection) movedText() []string {
	var all []string
	add := func(from, to string) {
		if text := from + " -> " + to; from != to && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if s.References != nil {
		for _, c := range s.Charts {
			add(c.From, c.To)
		}
		for _, i := range s.Images {
			add(i.From, i.To)
		}
	}
	return all
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
	return output.WithoutPasswords(strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " "))
}

func pairsOf(all map[string]string) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		pairs = append(pairs, key+"="+all[key])
	}
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
