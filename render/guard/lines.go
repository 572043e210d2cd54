// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// maxVersions bounds the versions that a reason lists.
const maxVersions = 20

// Lines returns the lines that name a change, none twice: one for each of its versions or, where these are many, have no line of
// their own or must not be shown, one for all. number returns a line with the number that it needs to count.
func Lines(c safeguard.Change, number func(approval.Line) approval.Line) []string {
	all := exact(c)
	wide := c.Unreadable || len(c.Versions) > maxVersions
	for i := range all {
		all[i] = all[i].Writable()
		wide = wide || all[i].Version == approval.Any
	}
	var lines []string
	for _, exact := range all {
		if wide && exact.Application != "" && exact.Version != "" {
			exact.Version = approval.Any
		}
		lines = each.Union(lines, number(exact).String())
	}
	return lines
}

// LinesOf returns the lines that name the changes, none twice.
func LinesOf(changes []safeguard.Change, number func(approval.Line) approval.Line) []string {
	lines := []string{}
	known := map[string]bool{}
	for _, c := range changes {
		for _, line := range Lines(c, number) {
			if !known[line] {
				lines, known[line] = append(lines, line), true
			}
		}
	}
	return lines
}

// Fresh returns a function that gives a line the number above all of those that are known with the same body; no number where
// there are none.
func Fresh(known []approval.Line) func(approval.Line) approval.Line {
	highest := map[string]int{}
	for _, l := range known {
		highest[l.Body()] = max(highest[l.Body()], l.Number, 1)
	}
	return func(l approval.Line) approval.Line {
		if last := highest[l.Body()]; last > 0 {
			l.Number = last + 1
		}
		return l
	}
}

// nothing is an empty version in an exact line: like other texts that cannot be written, it has no line of its own.
const nothing = " "

// exact returns a line for each version of a change that is a loss of its own, or one for the change.
func exact(c safeguard.Change) []approval.Line {
	if c.Instance != "" || c.Reason == v1alpha1.RemovalReason || len(c.Versions) == 0 {
		return []approval.Line{exactOf(c, "")}
	}
	return each.Map(c.Versions, func(version string) approval.Line { return exactOf(c, cmp.Or(version, nothing)) })
}

// exactOf returns the line that names the loss of a version, or the change as a whole.
func exactOf(c safeguard.Change, version string) approval.Line {
	l := approval.Line{Version: version}
	switch {
	case c.Instance != "":
		l.Instance = c.Instance
	case c.Key.IsDefinition(), c.Key.Kind == catalog.PackageKind, c.Key.Kind == catalog.FunctionKind:
		l.Application = c.Key.Name
	default:
		l.Object = c.Key
	}
	if c.Reason == v1alpha1.VersionRemovalReason && c.Instance != "" && c.Detail == "" {
		l.Version = c.From
	}
	l.Word, l.Argument = wordOf(c)
	return l
}

// wordOf returns the word of the line that names a change, and its argument.
func wordOf(c safeguard.Change) (word, argument string) {
	switch c.Reason {
	case v1alpha1.RemovalReason, v1alpha1.AdoptionReason:
		if c.Live {
			return approval.Live, ""
		}
	case v1alpha1.StrandedReason:
		return approval.Channel, c.Channel
	case v1alpha1.IdentityChangeReason:
		if c.Field == safeguard.OperatorConflictField {
			return approval.Live, ""
		}
		return approval.Identity, ""
	case v1alpha1.SourceChangeReason:
		return approval.Source, ""
	case v1alpha1.LockedValueReason:
		return approval.Locked, c.Field
	case v1alpha1.InstanceUpgradeReason:
		if c.Field == safeguard.ChannelField {
			return approval.Channel, cmp.Or(c.To, nothing)
		}
		return approval.Upgrade, cmp.Or(c.To, nothing)
	case v1alpha1.MajorUpgradeReason:
		if to, err := semver.NewVersion(c.To); err == nil {
			return approval.Major, strconv.FormatUint(to.Major(), 10)
		}
		return approval.Major, ""
	}
	return "", ""
}

// NamesAny reports whether a line names one of the changes, or a version of one.
func NamesAny(l approval.Line, changes []safeguard.Change) bool {
	return slices.ContainsFunc(changes, func(c safeguard.Change) bool {
		return slices.ContainsFunc(exact(c), func(exact approval.Line) bool { return namesExact(l, exact, c) })
	})
}

// namesExact reports whether a line names what an exact line of a change names. A definition has a line as an object as well.
func namesExact(l, exact approval.Line, c safeguard.Change) bool {
	if l.Object.Kind != "" && exact.Application != "" && exact.Version == "" {
		exact.Application, exact.Object = "", c.Key
	}
	return l.Names(exact)
}

// split returns the changes that no line names, and those that one names. A change of several versions may be both.
func split(changes []safeguard.Change, lines []approval.Line) (left, named []safeguard.Change) {
	for _, c := range changes {
		all := exact(c)
		isNamed := func(i int) bool {
			return slices.ContainsFunc(lines, func(l approval.Line) bool { return namesExact(l, all[i], c) })
		}
		if len(all) == 1 {
			if isNamed(0) {
				named = append(named, c)
			} else {
				left = append(left, c)
			}
			continue
		}
		without, with := c, c
		without.Versions, with.Versions = nil, nil
		for i, version := range c.Versions {
			if isNamed(i) {
				with.Versions = append(with.Versions, version)
			} else {
				without.Versions = append(without.Versions, version)
			}
		}
		if len(without.Versions) > 0 {
			left = append(left, without)
		}
		if len(with.Versions) > 0 {
			named = append(named, with)
		}
	}
	return left, named
}
