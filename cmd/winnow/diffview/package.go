// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxPackageLines bounds the lines of a kind, such as channels, of a package.
const maxPackageLines = 30

// packageLines returns the changes of a package of operators, the most serious first, without the changes of its own document
// and deprecations of the package and of versions.
func packageLines(a diff.Application) []entry {
	p := a.Package
	if p == nil {
		return packageVersions(a)
	}
	var all []entry
	add := func(format string, args ...any) {
		all = append(all, entry{text: fmt.Sprintf(format, args...)})
	}
	for _, c := range p.Channels {
		if len(c.Stranded) > 0 {
			add("STRANDED in the channel %s, where nothing is their upgrade: %s", excerpt.Of(c.Name), excerpt.Names(c.Stranded, maxNames))
		}
	}
	if f := p.DefaultChannel; f != nil {
		add("default channel %s -> %s", excerpt.Of(f.From), excerpt.Of(f.To))
	}
	channels := each.Map(p.Channels, func(c diff.Channel) entry {
		return entry{text: channelText(c), below: fieldEntries(wording{}, c.Fields, c.FieldsOmitted)}
	})
	all = append(all, firstOf(channels, "channel")...)
	all = append(all, packageVersions(a)...)
	all = append(all, apiLines(p.Provides)...)
	all = append(all, requirementLines(p.Requires)...)
	verbs := map[diff.Change]string{diff.Added: "against the rules for versions: ", diff.Removed: "no more: "}
	repairs := each.Map(p.Repairs, func(r diff.Repair) entry { return entry{text: verbs[r.Change] + r.Text} })
	all = append(all, firstOf(repairs, "repair")...)
	if p.Documents > 0 {
		add("%s without a meaning to OLM changed", plaintext.Count(p.Documents, "document"))
	}
	return all
}

// firstOf returns the first lines, and one with the number of the others.
func firstOf(all []entry, thing string) []entry {
	return excerpt.First(all, maxPackageLines, 0, func(more int) entry {
		return entry{text: "and " + strings.Replace(plaintext.Count(more, thing), " ", " more ", 1)}
	})
}

// channelText describes the change of a channel.
func channelText(c diff.Channel) string {
	text := sign(c.Change) + " channel " + excerpt.Of(c.Name)
	var parts plaintext.Texts
	switch h := c.Head; {
	case h == nil:
	case h.From == nil:
		parts.Add(true, "at %s", bundleText(h.To))
	case h.To == nil:
		parts.Add(true, "was at %s", bundleText(h.From))
	default:
		parts.Add(true, "%s -> %s (%s)", bundleText(h.From), bundleText(h.To), h.Kind)
	}
	parts.Add(c.Added > 0, "%s added", plaintext.Count(c.Added, "version"))
	parts.Add(c.Removed > 0, "%s removed", plaintext.Count(c.Removed, "version"))
	parts.Add(len(c.Fields)+c.FieldsOmitted > 0, "its document changed")
	parts.Add(c.Deprecated != "", "deprecated: %s", c.Deprecated)
	if len(parts) == 0 {
		return text
	}
	return text + ": " + strings.Join(parts, ", ")
}

func bundleText(b *diff.Bundle) string { return excerpt.Of(cmp.Or(b.Number, b.Version)) }

// labelOf returns what people see of a version.
func labelOf(v diff.Version) string { return cmp.Or(v.Number, v.Version) }

// packageVersions returns a line for the versions that each cause removes, one for added versions, and one for each version
// with another document.
func packageVersions(a diff.Application) []entry {
	label := func(v diff.Version) string {
		switch {
		case v.Change != diff.Removed:
			return "+ versions"
		case a.Change == diff.Removed:
			return "- versions"
		}
		return "- versions, removed " + byCause(v.Cause)
	}
	var all, replaced []entry
	for _, v := range a.Versions {
		if v.Change == diff.Replaced {
			replaced = append(replaced, entry{
				text:  sign(v.Change) + " " + excerpt.Of(labelOf(v)) + " changed:",
				below: fieldEntries(wording{}, v.Fields, v.FieldsOmitted),
			})
		}
	}
	others := slices.DeleteFunc(slices.Clone(a.Versions), func(v diff.Version) bool { return v.Change == diff.Replaced })
	for _, group := range each.Group(others, label) {
		named := excerpt.List(group, maxNames, func(v diff.Version) string { return excerpt.Of(labelOf(v)) })
		all = append(all, entry{text: label(group[0]) + ": " + named})
	}
	return append(all, firstOf(replaced, "version")...)
}

func apiLines(apis []diff.API) []entry {
	var gone, fresh []entry
	for _, api := range apis {
		text := fmt.Sprintf("%s API %s/%s %s%s", sign(api.Change), excerpt.Of(api.Group), excerpt.Of(api.Version), excerpt.Of(api.Kind), inChannels(api.Channels))
		if api.Change == diff.Removed {
			gone = append(gone, entry{text: text})
		} else {
			fresh = append(fresh, entry{text: text})
		}
	}
	return append(firstOf(gone, "removed API"), firstOf(fresh, "added API")...)
}

func requirementLines(requires []diff.Requirement) []entry {
	verbs := map[diff.Change]string{diff.Added: "+ requires: ", diff.Removed: "- requires no more: "}
	return firstOf(each.Map(requires, func(r diff.Requirement) entry {
		return entry{text: verbs[r.Change] + excerpt.To(r.Text, maxCode) + inChannels(r.Channels)}
	}), "requirement")
}

// inChannels returns the channels in brackets.
func inChannels(channels []string) string {
	noun := "channels"
	if len(channels) == 1 {
		noun = "channel"
	}
	return fmt.Sprintf(" (%s %s)", noun, excerpt.List(channels, maxInline, excerpt.Of))
}

// packageStat summarizes the changes of a package in a few words.
func packageStat(a diff.Application) []string {
	p := packageOf(a)
	stranded, heads := 0, 0
	for _, c := range p.Channels {
		stranded += len(c.Stranded)
		if c.Head != nil {
			heads++
		}
	}
	apis := map[diff.Change]int{}
	for _, api := range p.Provides {
		apis[api.Change]++
	}
	var parts plaintext.Texts
	parts.Add(stranded > 0, "STRANDED %d", stranded)
	parts.Add(heads > 0, "heads %d", heads)
	parts.Add(apis[diff.Removed] > 0, "APIs -%d", apis[diff.Removed])
	parts.Add(apis[diff.Added] > 0, "APIs +%d", apis[diff.Added])
	parts.Add(len(p.Requires) > 0, "requires %d", len(p.Requires))
	return parts
}

// packageOf returns the changes of a package, empty where there are none.
func packageOf(a diff.Application) diff.Package { return *cmp.Or(a.Package, &diff.Package{}) }

// strandedIn returns the channels of a package that strand versions.
func strandedIn(a diff.Application) (found plaintext.Texts) {
	for _, c := range packageOf(a).Channels {
		found.Add(len(c.Stranded) > 0, "%s: %s", excerpt.Of(c.Name), plaintext.Count(len(c.Stranded), "version"))
	}
	return found
}

// headSteps returns the channels of a package whose heads change.
func headSteps(a diff.Application) (found plaintext.Texts) {
	for _, c := range packageOf(a).Channels {
		if h := c.Head; a.Change == diff.Updated && h != nil && h.From != nil && h.To != nil {
			found.Add(true, "%s %s -> %s", excerpt.Of(c.Name), bundleText(h.From), bundleText(h.To))
		}
	}
	return found
}

// goneAPIs returns the APIs that heads of a package cease to provide.
func goneAPIs(a diff.Application) (found plaintext.Texts) {
	for _, api := range packageOf(a).Provides {
		found.Add(api.Change == diff.Removed, "%s/%s %s", api.Group, api.Version, api.Kind)
	}
	return found
}

func deprecatedChannels(a diff.Application) (found plaintext.Texts) {
	for _, c := range packageOf(a).Channels {
		found.Add(c.Deprecated != "", "%s", excerpt.Of(c.Name))
	}
	return found
}
