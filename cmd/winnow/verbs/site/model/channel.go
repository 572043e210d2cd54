// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
)

// Channel is a graph of upgrades between the versions of a package of operators.
type Channel struct {
	Name, Deprecated string
	Default          bool
	// Entries are its versions, the highest first, and at most maxEntries; Omitted counts the others.
	Entries []Entry
	Omitted int
	// Upgrades lead from one entry to another.
	Upgrades []Upgrade
}

// Entry is a version in a channel.
type Entry struct {
	Name, Label, Deprecated string
	// Replaces and Skips are names, which may be of no entry. SkipRange is a range of versions.
	Replaces  string
	Skips     []string
	SkipRange string
	Head      bool
}

// Upgrade leads from an entry to a higher one. Both are places among the entries.
type Upgrade struct {
	From, To int
	// Skips reports that To skips From, and does not replace it.
	Skips bool
}

const maxEntries = 150

// channelsOf returns the channels of a package, the default one first.
func channelsOf(of *filebased.Package) []Channel {
	labels, deprecated, rank := map[string]string{}, map[string]string{}, map[string]int{}
	for i, bundle := range of.Bundles {
		labels[bundle.Name], deprecated[bundle.Name], rank[bundle.Name] = bundle.Version.String(), bundle.Deprecated, i
	}
	heads := of.Heads()
	var all []Channel
	for _, channel := range of.Channels {
		entries := slices.SortedStableFunc(slices.Values(channel.Entries), func(a, b graph.Entry) int { return rank[a.Name] - rank[b.Name] })
		c := Channel{Name: channel.Name, Deprecated: channel.Deprecated, Default: channel.Name == of.DefaultChannel}
		c.Omitted = max(0, len(entries)-maxEntries)
		for _, entry := range entries[:len(entries)-c.Omitted] {
			head := heads[channel.Name]
			c.Entries = append(c.Entries, Entry{
				Name: entry.Name, Label: labels[entry.Name], Deprecated: deprecated[entry.Name], Replaces: entry.Replaces,
				Skips: entry.Skips, SkipRange: entry.SkipRange, Head: head != nil && head.Name == entry.Name,
			})
		}
		c.connect()
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b Channel) int { return boolean(b.Default) - boolean(a.Default) })
	return all
}

// connect adds the upgrades between the entries.
func (c *Channel) connect() {
	place := map[string]int{}
	for i, entry := range c.Entries {
		place[entry.Name] = i
	}
	for to, entry := range c.Entries {
		if from, known := place[entry.Replaces]; known {
			c.Upgrades = append(c.Upgrades, Upgrade{From: from, To: to})
		}
		for _, skip := range entry.Skips {
			if from, known := place[skip]; known && skip != entry.Replaces {
				c.Upgrades = append(c.Upgrades, Upgrade{From: from, To: to, Skips: true})
			}
		}
	}
}

func boolean(value bool) int {
	if value {
		return 1
	}
	return 0
}
