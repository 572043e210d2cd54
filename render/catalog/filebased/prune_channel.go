// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
)

// channelPruning repairs what is kept of a channel. An entry that was dropped is never added, so that it ends.
type channelPruning struct {
	channel       *Channel
	all           map[string]*graph.Entry
	bundles       map[string]*Bundle
	kept, dropped map[string]bool
	decided       map[string]Decision
}

// step repairs one problem, and reports whether there was one.
func (c *channelPruning) step() bool {
	g := graph.New(c.channel.Entries, func(name string) bool { return c.kept[name] })
	if len(g.Heads) == 0 {
		c.drop(c.highestFirst(slices.Collect(maps.Keys(c.kept)))[len(c.kept)-1], "every entry that is kept is replaced or skipped by another one of them")
		return true
	}
	heads := c.highestFirst(g.Heads)
	head := heads[0]
	if len(heads) > 1 {
		if !c.connect(g, head, heads[1:]) {
			for _, other := range heads[1:] {
				c.drop(other, "it is a second head, and no entry leads from it to the head "+head)
			}
		}
		return true
	}
	chain, cycle := g.Chain(head)
	if len(cycle) > 0 {
		c.drop(c.highestFirst(cycle)[len(cycle)-1], "it is part of a cycle of entries that replace each other")
		return true
	}
	stranded := c.highestFirst(g.Stranded(c.channel.Entries, chain))
	if len(stranded) > 0 && !c.connect(g, head, stranded) {
		for _, other := range stranded {
			c.drop(other, "no upgrade leads from it to the head "+head)
		}
	}
	return len(stranded) > 0
}

// connect adds the entries between a head and others, and reports whether there were some. They are those on the
// chain of entries that replace each other from the head to one of the others, or to an entry that skips it. The
// chain ends at what was dropped or is skipped.
func (c *channelPruning) connect(g graph.Graph, head string, others []string) (added bool) {
	wanted, skipped := sets.New(others...), sets.New[string]()
	var between []*graph.Entry
	add := func(other string) {
		for _, entry := range between {
			c.kept[entry.Name] = true
			c.decide(entry.Name, Add, fmt.Sprintf("upgrades from %s to the head %s lead through it", other, head))
			added = true
		}
		between = nil
	}
	for entry, steps := c.all[head], 0; entry != nil && steps <= len(c.all); entry, steps = c.all[entry.Replaces], steps+1 {
		switch {
		case c.dropped[entry.Name], steps > 0 && (g.Skipped.Has(entry.Name) || skipped.Has(entry.Name)):
			return added
		case wanted.Has(entry.Name):
			add(entry.Name)
		case !c.kept[entry.Name]:
			between = append(between, entry)
			skipped.Insert(entry.Skips...)
			if i := slices.IndexFunc(entry.Skips, wanted.Has); i >= 0 {
				add(entry.Skips[i])
			}
		}
	}
	return added
}

func (c *channelPruning) drop(name, reason string) {
	delete(c.kept, name)
	c.dropped[name] = true
	c.decide(name, Drop, reason)
}

// decide records a decision, or takes back the one before it: what was added and is dropped is as the predicate
// has it.
func (c *channelPruning) decide(name string, action Action, reason string) {
	if before, isDecided := c.decided[name]; isDecided && before.Action != action {
		delete(c.decided, name)
		return
	}
	c.decided[name] = Decision{Channel: c.channel.Name, Bundle: name, Action: action, Reason: reason}
}

// highestFirst sorts names of bundles by version.
func (c *channelPruning) highestFirst(names []string) []string {
	return slices.SortedFunc(slices.Values(names), func(x, y string) int {
		return byVersion(c.bundles[y], c.bundles[x])
	})
}
