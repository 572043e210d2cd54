// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/selection/numbered"
)

// State of an application in clusters.
type State string

// States. An application that is held is in, or was, and will not be as the commit has it until that is approved.
const (
	StateIn     State = "in"
	StateOut    State = "out"
	StateHeld   State = "held"
	StateAbsent State = ""
)

// Cell is what clusters have of an application.
type Cell struct {
	State State
	// Versions are the labels of the versions that are in, in the order of the catalog, or of their numbers if selections differ.
	// Latest is the highest one, and Number its semantic version.
	Versions       []string
	Latest, Number string
	// Rule decided on the application, for Reason.
	Rule, Reason string
	// Held are the changes that are held.
	Held []string
	// Deprecated are the deprecations of the application, and of its versions that are in.
	Deprecated []string
	// Catalog decided on it; nil for a stage, and where it is not shown.
	Catalog *Catalog
}

// content is what a cluster has of all applications, and digest a text that differs where the cells do.
type content struct {
	cells  map[Key]*Cell
	digest string
}

// contentOf returns what a selection publishes. catalogs maps loaded catalogs to the shown ones.
func contentOf(p selections.State, catalogs map[*catalog.Catalog]*Catalog) content {
	cells := map[Key]*Cell{}
	for _, d := range p.Side.Result.Selection.Decisions {
		key := KeyOf(d.Application)
		cell := cellOf(d)
		if d.Index < len(p.Side.Sources) {
			cell.Catalog = catalogs[p.Side.Sources[d.Index].Catalog]
		}
		cells[key] = united(cells[key], cell)
	}
	return newContent(cells)
}

func cellOf(d selection.Decision) *Cell {
	cell := &Cell{State: StateOut, Rule: d.Rule, Reason: d.Reason}
	if !d.Selected {
		return cell
	}
	cell.State = StateIn
	a := d.Application
	cell.Latest, cell.Number = latestOf(a, d.Versions)
	if a.Metadata.Deprecated != "" {
		cell.Deprecated = append(cell.Deprecated, a.Metadata.Deprecated)
	}
	for _, version := range d.Versions {
		facts := a.Metadata.Versions.Of(version)
		label := cmp.Or(facts.Label, version)
		cell.Versions = append(cell.Versions, label)
		if facts.Deprecated != "" {
			cell.Deprecated = append(cell.Deprecated, label+": "+facts.Deprecated)
		}
	}
	return cell
}

// contentOfStage returns what a rendered artifact has.
func contentOfStage(definitions []safeguard.Definition) content {
	cells := map[Key]*Cell{}
	for _, d := range definitions {
		a := &catalog.Application{Name: d.Name, Kind: d.Kind, Versions: d.Versions}
		cell := &Cell{State: StateIn, Versions: d.Versions}
		cell.Latest, cell.Number = latestOf(a, d.Versions)
		cells[KeyOf(a)] = cell
	}
	return newContent(cells)
}

// withHeld returns the content with what is held.
func (c content) withHeld(held []v1alpha1.HeldReason) content {
	if len(held) == 0 {
		return c
	}
	cells := maps.Clone(c.cells)
	for _, reasons := range each.Group(held, func(r v1alpha1.HeldReason) string { return r.Application }) {
		name, found := reasons[0].Application, false
		messages := each.Map(reasons, func(r v1alpha1.HeldReason) string { return r.Message })
		for key, cell := range c.cells {
			if key.Name != name {
				continue
			}
			changed := *cell
			changed.State, changed.Held, found = StateHeld, messages, true
			cells[key] = &changed
		}
		if !found && name != "" {
			cells[Key{Kind: definition.Kind, Name: name}] = &Cell{State: StateHeld, Held: messages}
		}
	}
	return newContent(cells)
}

func newContent(cells map[Key]*Cell) content {
	sum := sha256.New()
	for _, key := range sortedKeys(cells) {
		c := cells[key]
		fmt.Fprintf(sum, "%q %q %q %q %q %q %q %q", key, c.State, c.Versions, c.Rule, c.Reason, c.Held, c.Deprecated, c.Latest)
		if c.Catalog != nil {
			fmt.Fprintf(sum, " %q %q", c.Catalog.Name, c.Catalog.Address)
		}
		fmt.Fprintln(sum)
	}
	return content{cells, fmt.Sprintf("%x", sum.Sum(nil))}
}

func sortedKeys(cells map[Key]*Cell) []Key {
	return slices.SortedFunc(maps.Keys(cells), func(a, b Key) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind)) })
}

// merged returns what a cluster has of several contents.
func merged(all []content) content {
	if len(all) == 1 {
		return all[0]
	}
	cells := map[Key]*Cell{}
	for _, one := range all {
		for key, cell := range one.cells {
			cells[key] = united(cells[key], cell)
		}
	}
	return newContent(cells)
}

// rank orders the states: of several, a cluster has the one with the highest.
func (s State) rank() int { return slices.Index([]State{StateAbsent, StateOut, StateIn, StateHeld}, s) }

// united merges the cells of an application that two selections, or two sources of one, decide on. The state and the reason are
// of the higher rank, and all else is of both. a may be nil.
func united(a, b *Cell) *Cell {
	if a == nil {
		return b
	}
	if a.State.rank() < b.State.rank() {
		a, b = b, a
	}
	both := *a
	if highest := highestOf(a, b); highest != a {
		both.Latest, both.Number, both.Catalog = highest.Latest, highest.Number, highest.Catalog
	}
	if both.Versions = each.Union(slices.Clip(a.Versions), b.Versions...); len(both.Versions) > len(a.Versions) {
		slices.SortStableFunc(both.Versions, byNumber)
	}
	both.Held, both.Deprecated = each.Union(slices.Clip(a.Held), b.Held...), each.Union(slices.Clip(a.Deprecated), b.Deprecated...)
	return &both
}

// highestOf returns the cell with the higher version, or else the first one.
func highestOf(a, b *Cell) *Cell {
	numbers := numbered.Of([]string{a.Number, b.Number})
	if a.Latest == "" && b.Latest != "" || numbered.Descending(numbers[0], numbers[1]) > 0 {
		return b
	}
	return a
}

// byNumber orders labels of versions, the lowest first, and labels that are not semantic last.
func byNumber(a, b string) int {
	all := numbered.Of([]string{a, b})
	if all[0].Parsed == nil || all[1].Parsed == nil {
		return cmp.Or(numbered.Descending(all[0], all[1]), cmp.Compare(a, b))
	}
	return cmp.Or(numbered.Descending(all[1], all[0]), cmp.Compare(a, b))
}
