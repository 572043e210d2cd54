package filebased

import (
	"fmt"
	"slices"

	"github.com/blang/semver/v4"
)

// graph has the entries of a channel, or of a part of one.
type graph struct {
	entries map[string]*Entry
	// skipped has the names that an entry skips, which need not be those of entries.
	skipped map[string]bool
	// heads are the entries that no entry replaces or skips, in the order of the channel.
	heads []string
}

// newGraph makes a graph of the entries that keep accepts.
func newGraph(entries []Entry, keep func(name string) bool) graph {
	g := graph{entries: map[string]*Entry{}, skipped: map[string]bool{}}
	replaced := map[string]bool{}
	for i := range entries {
		entry := &entries[i]
		if !keep(entry.Name) {
			continue
		}
		g.entries[entry.Name] = entry
		if entry.Replaces != "" {
			replaced[entry.Replaces] = true
		}
		for _, skip := range entry.Skips {
			g.skipped[skip] = true
		}
	}
	for i := range entries {
		name := entries[i].Name
		if g.entries[name] == &entries[i] && !replaced[name] && !g.skipped[name] {
			g.heads = append(g.heads, name)
		}
	}
	return g
}

// chain returns the entries that replace each other from a head on, and the names of a cycle, if it ends in one.
// A name that is skipped ends it: an upgrade does not go there.
func (g *graph) chain(head string) (names, cycle []string) {
	index := map[string]int{}
	for entry := g.entries[head]; entry != nil; entry = g.entries[entry.Replaces] {
		index[entry.Name] = len(names)
		names = append(names, entry.Name)
		if g.skipped[entry.Replaces] {
			break
		}
		if start, known := index[entry.Replaces]; known {
			return names, names[start:]
		}
	}
	return names, nil
}

// stranded returns the entries, in the order of the channel, that are neither on the chain nor skipped: there is
// no upgrade from them to the head.
func (g *graph) stranded(entries []Entry, chain []string) (names []string) {
	reached := map[string]bool{}
	for _, name := range chain {
		reached[name] = true
	}
	for i := range entries {
		name := entries[i].Name
		if g.entries[name] != nil && !reached[name] && !g.skipped[name] {
			names = append(names, name)
		}
	}
	return names
}

// checkGraph reports what is wrong with the upgrades of a channel whose entries have different names.
func checkGraph(channel *Channel, found *report) {
	g := newGraph(channel.Entries, func(string) bool { return true })
	at := func(name string) place {
		return place{"entries", slices.IndexFunc(channel.Entries, func(e Entry) bool { return e.Name == name })}
	}
	switch len(g.heads) {
	case 0:
		found.at(channel.Blob, place{"entries"}, "the channel %s has no head: every entry is replaced or skipped by one", quote(channel.Name))
		return
	case 1:
	default:
		found.at(channel.Blob, at(g.heads[1]), "the channel %s has %d heads, but only one entry may be neither replaced nor skipped: %s",
			quote(channel.Name), len(g.heads), nameList(g.heads))
		return
	}
	chain, cycle := g.chain(g.heads[0])
	if len(cycle) > 0 {
		found.at(channel.Blob, at(cycle[0]), "the channel %s has a cycle of entries that replace each other: %s", quote(channel.Name), nameList(cycle))
		return
	}
	if stranded := g.stranded(channel.Entries, chain); len(stranded) > 0 {
		found.at(channel.Blob, at(stranded[0]), "the channel %s has %d stranded entries, from which no upgrade leads to the head %s: %s",
			quote(channel.Name), len(stranded), quote(g.heads[0]), nameList(stranded))
	}
}

// parseRange parses a skipRange. An empty one has no version.
func parseRange(text string) (within semver.Range, err error) {
	switch {
	case text == "":
		return func(semver.Version) bool { return false }, nil
	case len(text) > maxRange:
		return nil, fmt.Errorf("is longer than %d bytes", maxRange)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("parser gave up: %v", r)
		}
	}()
	return semver.ParseRange(text)
}
