// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Condition is a property of a report, for the command line's exit code.
type Condition struct {
	Name string
	// Summary describes when it holds.
	Summary string
	// found returns the names of the things that it holds for.
	found func(*Selection) []string
}

// unknownCondition is a condition that also holds for a report as a whole.
const unknownCondition = "unknown"

// Conditions returns all conditions: first those about applications, then those about the selection, in the
// order of the steps of a change: an edit is held, and moves applications.
func Conditions() []Condition {
	return []Condition{
		{"removal", "an application, or an instance, is removed", both(
			applicationsThat(func(a Application) bool { return a.Change == Removed }),
			instancesThat(func(in Instance) bool { return in.Change == Removed }))},
		{"version-removal", "a version is removed, or an instance loses its own", both(
			both(versionsThat(Removed), ofEach(strandedVersions)), instancesThat(Instance.LosesVersion))},
		{"version-change", "a version stays, with another entry", versionsThat(Replaced)},
		{"source-change", "a version stays, from another chart or commit", both(
			ofEach(fromElsewhere), instancesThat(func(in Instance) bool { return in.SourceChanged }))},
		{"identity", "live releases would be installed anew", both(
			applicationsThat(func(a Application) bool { return len(a.Identity) > 0 }),
			instancesThat(func(in Instance) bool { return len(in.Identity) > 0 }))},
		{"major", "the highest version, or an instance, gets another major", both(
			applicationsThat(func(a Application) bool { return a.Highest != nil && a.Highest.Kind == StepMajor }),
			instancesThat(Instance.Major))},
		{"namespace", "a default namespace changes", applicationsThat(func(a Application) bool { return a.DefaultNamespace != nil })},
		{SchemaCondition, "a schema refuses more values, or has another default", stricterSchemas},
		{"deprecation", "an application, or a version, is newly deprecated", ofEach(newDeprecations)},
		{"unmirrored", "a host is needed that no mirror covers", applicationsThat(func(a Application) bool {
			return len(a.Unmirrored) > 0 || a.Unsearched != ""
		})},
		{"facts", "two catalogs: facts that selections choose by", changedFactsAndLists},
		{"safeguards", "an edit loosens what protects, such as deletionPolicy", loosenedFields},
		{"held", "something is held that this change does not name", heldNames},
		{"base-approval", "only a line of the base names what is held", baseApprovals},
		{"move", "an application moves, and may be installed anew", unprotectedMoves},
		{RiskCondition, "with --charts: an upgrade of a chart may break something", riskyUpgrades},
		{UsedCondition, "with --receipts: something that is lost has installations", func(*Selection) []string { return nil }},
		{unknownCondition, "something could not be compared", notCompared},
		{"any", "the artifact changes", func(s *Selection) []string { return textIf(s.Change != Unchanged, s.label()) }},
	}
}

// Trips returns, for every named condition that holds, a message with the names that it holds for.
func (r *Report) Trips(names []string) []string {
	const listed = 5
	var messages []string
	for _, condition := range Conditions() {
		if !slices.Contains(names, condition.Name) {
			continue
		}
		found := slices.Concat(each.Map(r.Selections, condition.found)...)
		switch condition.Name {
		case unknownCondition:
			found = append(found, r.Unknown...)
		case UsedCondition:
			found = append(found, r.used()...)
		}
		if len(found) == 0 {
			continue
		}
		found = distinct(found) // clusters share what they lose
		messages = append(messages, condition.Name+": "+excerpt.Names(found, listed))
	}
	return messages
}

// distinct returns the texts, each once.
func distinct(all []string) []string {
	known := map[string]bool{}
	return slices.DeleteFunc(all, func(text string) bool {
		again := known[text]
		known[text] = true
		return again
	})
}

// both returns what two conditions find.
func both(one, other func(*Selection) []string) func(*Selection) []string {
	return func(s *Selection) []string { return append(one(s), other(s)...) }
}

func instancesThat(holds func(Instance) bool) func(*Selection) []string {
	return func(s *Selection) []string {
		return each.Map(each.Where(s.Instances, holds), func(in Instance) string { return "instance " + in.Name })
	}
}

// ofEach returns what is found in each application.
func ofEach(found func(Application) []string) func(*Selection) []string {
	return func(s *Selection) []string { return slices.Concat(each.Map(s.Applications, found)...) }
}

func applicationsThat(holds func(Application) bool) func(*Selection) []string {
	return ofEach(func(a Application) []string { return textIf(holds(a), a.Name) })
}

// versionsThat returns the versions with a change, of applications that stay.
func versionsThat(change Change) func(*Selection) []string {
	return ofEach(func(a Application) (found []string) {
		for _, v := range a.Versions {
			found = append(found, textIf(a.Change == Updated && v.Change == change && (change != Removed || !a.IsPackage()), a.Name+" "+v.Version)...)
		}
		return found
	})
}

// strandedVersions returns the versions of packages of operators that have no upgrade any more. Others are removed
// without harm: what runs goes on to what succeeds it.
func strandedVersions(a Application) (found []string) {
	if a.Change != Updated || a.Package == nil {
		return nil
	}
	for _, channel := range a.Package.Channels {
		for _, version := range channel.Stranded {
			found = append(found, a.Name+" "+version+" in "+channel.Name)
		}
	}
	return found
}

func newDeprecations(a Application) []string {
	found := textIf(a.Deprecated != "", a.Name)
	for _, v := range a.DeprecatedVersions {
		found = append(found, a.Name+" "+v.Version)
	}
	if a.Package == nil {
		return found
	}
	for _, channel := range a.Package.Channels {
		found = append(found, textIf(channel.Deprecated != "", a.Name+" channel "+channel.Name)...)
	}
	return found
}

func changedFactsAndLists(s *Selection) []string {
	found := applicationsThat(Application.HasFacts)(s)
	for _, list := range s.Lists {
		found = append(found, "the list "+list.Path)
	}
	return found
}

func fromElsewhere(a Application) []string {
	found := textIf(a.SourceChanged, a.Name)
	for _, v := range a.Versions {
		found = append(found, textIf(v.SourceChanged, a.Name+" "+v.Version)...)
	}
	return found
}

func loosenedFields(s *Selection) []string {
	return each.Map(s.Loosened, func(l Loosened) string { return fmt.Sprintf("%s of %s (%s -> %s)", l.Field, s.label(), l.From, l.To) })
}

func heldNames(s *Selection) []string {
	if !s.IsHeld() {
		return nil
	}
	var found []string
	for _, reason := range s.Held.Reasons {
		name := cmp.Or(reason.Application, s.label())
		if reason.Instance != "" {
			name = "instance " + reason.Instance
		}
		found = append(found, name+" ("+reason.Reason+")")
	}
	return found
}

func textIf(holds bool, text string) []string {
	if !holds {
		return nil
	}
	return []string{text}
}

// notCompared returns a selection that could not be compared, with its place: many have the same name.
func notCompared(s *Selection) []string {
	found := textIf(s.Error != "" || len(s.Unknown) > 0, s.label())
	if place := cmp.Or(s.Cluster, s.File); place != "" && len(found) > 0 {
		found[0] += " (" + place + ")"
	}
	return found
}

func baseApprovals(s *Selection) []string {
	if s.Held == nil {
		return nil
	}
	return s.Held.BaseApprovals
}

// stricterSchemas returns the applications and charts whose schemas change so.
func stricterSchemas(s *Selection) []string {
	found := applicationsThat(func(a Application) bool { return len(a.Schema) > 0 })(s)
	for _, c := range s.Charts {
		found = append(found, textIf(len(c.Schema) > 0, "chart of "+c.Name())...)
	}
	return found
}

func unprotectedMoves(s *Selection) []string {
	unprotected := each.Where(s.Moves, func(m Move) bool { return m.Unprotected })
	return each.Map(unprotected, func(m Move) string { return m.Application + " to " + m.To })
}

// riskyUpgrades returns the charts with open risks, and those that could not be looked at.
func riskyUpgrades(s *Selection) (found []string) {
	for _, c := range s.Charts {
		found = append(found, textIf(c.IsFinding, c.Name()+" (risks may be missing)")...)
		for _, r := range c.Open() {
			found = append(found, fmt.Sprintf("%s (%s)", c.Name(), r.Rule))
		}
	}
	return found
}
