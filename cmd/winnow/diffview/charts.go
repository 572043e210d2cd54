// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
)

// chartCounts counts the charts with risks, and the charts that were not compared.
func chartCounts(all []diff.Chart) []string {
	risky, lost := 0, 0
	for _, c := range all {
		switch {
		case c.Problem != "":
			lost++
		case len(c.Open()) > 0 || c.IsFinding:
			risky++
		}
	}
	return counts([]counted{{risky, "with risks"}, {lost, "not compared"}, {len(all) - risky - lost, "upgraded"}}, "chart")
}

// risks returns the names of the charts with risks that are not ignored, and of the charts that could not be looked at. The
// details are below.
func risks(all []diff.Chart) block {
	b := block{title: bold("RISKS: upgrades of charts may break something"), indent: "  "}
	for _, c := range all {
		open := c.Open()
		switch {
		case c.Problem != "" && c.IsFinding:
			b.list = append(b.list, entry{text: chartTitle(c) + ": " + c.Problem})
		case c.IsFinding:
			b.list = append(b.list, entry{text: strings.TrimSuffix(chartTitle(c)+": not all of it could be looked at; "+rulesOf(open), "; ")})
		case len(open) > 0:
			b.list = append(b.list, entry{text: chartTitle(c) + ": " + rulesOf(open)})
		}
	}
	return listing(b)
}

// uncompared returns the charts that a comment names nowhere else: without risks, objects and details.
func uncompared(all []diff.Chart) block {
	b := block{title: wording{comment: "Charts without differences, or not compared:"}}
	for _, c := range all {
		if !c.IsFinding && len(c.Risks)+len(c.Notes)+len(c.Schema) == 0 && c.Diff == nil {
			b.list = append(b.list, entry{text: chartTitle(c) + ": " + chartHeadline(c)})
		}
	}
	return listing(b)
}

// rulesOf returns the rules of risks, with their numbers, in the order of the risks.
func rulesOf(all []diff.Risk) string {
	groups := each.Group(all, func(r diff.Risk) string { return r.Rule })
	return strings.Join(each.Map(groups, func(group []diff.Risk) string {
		if len(group) == 1 {
			return group[0].Rule
		}
		return fmt.Sprintf("%s (%d)", group[0].Rule, len(group))
	}), ", ")
}

// chartTitle names the upgrade of a chart.
func chartTitle(c diff.Chart) string {
	title := c.Application
	if c.Instance != "" {
		title += ", instance " + c.Instance
	}
	if c.From == c.To {
		return title + " " + c.To
	}
	return title + " " + c.From + " -> " + c.To
}

// chartChanges returns the upgrades of charts: the risks first, then what is ignored and was not looked at, and the objects.
func chartChanges(s *diff.Selection) []change {
	return each.Map(s.Charts, func(c diff.Chart) change {
		details := block{indent: "    ", whole: true, values: c.Diff}
		for _, r := range c.Risks {
			label, sentences := wording{"RISK ", "**risk** "}, []string{r.Text}
			if r.Ignored != "" {
				label, sentences = same("ignored: "), append(sentences, "reason: "+r.Ignored)
			}
			details.list = append(details.list, entry{label: label, text: riskLine(r), below: entriesOf(sentences)})
		}
		details.list = append(append(details.list, schemaEntries(c.Schema)...), entriesOf(c.Notes)...)
		public := details
		public.list = firstEntries(details.list, maxReasons, 0, " risks and notes")
		return change{name: chartTitle(c), noun: "chart", sign: "~", headline: chartHeadline(c), details: details, public: public}
	})
}

// chartHeadline counts risks and objects, or says why there are none.
func chartHeadline(c diff.Chart) string {
	var parts plaintext.Texts
	parts.Add(len(c.Schema) > 0, "stricter schema")
	if c.Problem != "" {
		return strings.Join(append(parts, "not compared: "+c.Problem), ", ")
	}
	open := len(c.Open())
	parts.Add(open > 0, "%s", plaintext.Count(open, "risk"))
	ignored := len(c.Risks) - open
	parts.Add(ignored > 0, "%s", plaintext.Count(ignored, "ignored risk"))
	objects := counts([]counted{{c.Removed, "removed"}, {c.Changed, "changed"}, {c.Added, "added"}}, "object")
	parts = append(parts, objects...)
	parts.Add(c.IsFinding, "not all of it could be looked at")
	parts.Add(!c.IsFinding && len(objects) == 0, "renders to the same objects")
	return strings.Join(parts, ", ")
}

// riskLine returns what a risk is about.
func riskLine(r diff.Risk) string {
	line := strings.Join(strings.Fields(r.Rule+" "+r.Object+" "+r.Field), " ")
	if r.From != "" || r.To != "" {
		line += " " + fromTo(diff.Field{From: r.From, To: r.To})
	}
	return line
}
