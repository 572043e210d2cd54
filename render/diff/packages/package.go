// SPDX-License-Identifier: Apache-2.0

// Package packages compares packages of operators: their channels, bundles and documents, and the facts in them. It
// must not know why a package changed.
package packages

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
)

// Compare returns the changes of a package that enters, leaves or stays; nil when all facts of it stay.
func Compare(before, after *filebased.Package, stranded map[string][]string) *diff.Package {
	p := &diff.Package{Channels: []diff.Channel{}, Provides: []diff.API{}, Requires: []diff.Requirement{}, Repairs: []diff.Repair{}}
	if before != nil && after != nil && before.DefaultChannel != after.DefaultChannel {
		p.DefaultChannel = &diff.Field{Path: "defaultChannel", From: before.DefaultChannel, To: after.DefaultChannel}
	}
	nothing := &filebased.Package{}
	before, after = cmp.Or(before, nothing), cmp.Or(after, nothing)
	was, is := before.Heads(), after.Heads()
	older, newer := byName(before), byName(after)
	for _, name := range sets.List(sets.KeySet(older).Union(sets.KeySet(newer))) {
		c := compareChannel(older[name], newer[name], was[name], is[name])
		c.Stranded = stranded[name]
		if c.Change == diff.Unchanged && len(c.Stranded) > 0 {
			c.Change = diff.Updated // as the default channel
		}
		if c.Change != diff.Unchanged {
			p.Channels = append(p.Channels, c)
		}
	}
	for _, found := range changedFacts(was, is, func(b *filebased.Bundle) []filebased.GVK { return b.Provides }) {
		p.Provides = append(p.Provides, diff.API{
			Group: found.fact.Group, Version: found.fact.Version, Kind: found.fact.Kind, Change: found.change, Channels: found.channels,
		})
	}
	for _, found := range changedFacts(was, is, func(b *filebased.Bundle) []filebased.Dependency { return b.Dependencies }) {
		f := found.fact
		p.Requires = append(p.Requires, diff.Requirement{
			Text: excerpt.To(f.String(), diff.MaxField), Type: f.Type, Package: f.Package, VersionRange: f.VersionRange,
			Group: f.API.Group, Version: f.API.Version, Kind: f.API.Kind, Change: found.change, Channels: found.channels,
		})
	}
	slices.SortFunc(p.Provides, func(a, b diff.API) int {
		return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
	})
	slices.SortFunc(p.Requires, func(a, b diff.Requirement) int {
		return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Type, b.Type))
	})
	return p
}

// byName maps the names of the channels of a package to them.
func byName(p *filebased.Package) map[string]*filebased.Channel {
	return each.By(p.Channels, func(c *filebased.Channel) string { return c.Name })
}

// changedFact is a fact that heads of channels begin or cease to have.
type changedFact[T comparable] struct {
	fact     T
	change   diff.Change
	channels []string
}

// changedFacts compares the heads of each channel. A channel that is added adds what no head had, and one that is removed
// removes what no head has: who used it has to go to another one.
func changedFacts[T comparable](was, is map[string]*filebased.Bundle, of func(*filebased.Bundle) []T) (all []*changedFact[T]) {
	collect := func(from, to map[string]*filebased.Bundle, change diff.Change) {
		found := map[T]*changedFact[T]{}
		anywhere := factsOf(from, of)
		for _, channel := range slices.Sorted(maps.Keys(to)) {
			known := anywhere
			if head := from[channel]; head != nil {
				known = factsOf(map[string]*filebased.Bundle{channel: head}, of)
			}
			for _, fact := range of(to[channel]) {
				if known.Has(fact) {
					continue
				}
				if found[fact] == nil {
					found[fact] = &changedFact[T]{fact: fact, change: change}
					all = append(all, found[fact])
				}
				found[fact].channels = each.Union(found[fact].channels, channel)
			}
		}
	}
	collect(was, is, diff.Added)
	collect(is, was, diff.Removed)
	return all
}

func factsOf[T comparable](heads map[string]*filebased.Bundle, of func(*filebased.Bundle) []T) sets.Set[T] {
	facts := sets.New[T]()
	for _, head := range heads {
		facts.Insert(of(head)...)
	}
	return facts
}

// Repairs returns the sentences that only one of two decisions has.
func Repairs(before, after selection.Decision) []diff.Repair {
	repairs := []diff.Repair{}
	for _, text := range after.Repairs {
		if !slices.Contains(before.Repairs, text) {
			repairs = append(repairs, diff.Repair{Change: diff.Added, Text: text})
		}
	}
	for _, text := range before.Repairs {
		if !slices.Contains(after.Repairs, text) {
			repairs = append(repairs, diff.Repair{Change: diff.Removed, Text: text})
		}
	}
	return repairs
}
