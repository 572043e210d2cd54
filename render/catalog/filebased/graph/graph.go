// SPDX-License-Identifier: Apache-2.0

// Package graph has the upgrades between the entries of a channel. It must not know bundles, nor what is wrong with a graph
// for people.
package graph

import (
	"fmt"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/parallel"
)

// Entry is a bundle's place in a channel.
type Entry struct {
	Name      string   `json:"name"`
	Replaces  string   `json:"replaces"`
	Skips     []string `json:"skips"`
	SkipRange string   `json:"skipRange"`
}

// Graph has the entries of a channel, or of a part of one.
type Graph struct {
	entries map[string]*Entry
	// Skipped has the names that an entry skips, which need not be names of entries.
	Skipped sets.Set[string]
	// Heads are the entries that no entry replaces or skips, in the order of the channel.
	Heads []string
}

// New makes a graph of the entries that keep accepts.
func New(entries []Entry, keep func(name string) bool) Graph {
	g := Graph{entries: map[string]*Entry{}, Skipped: sets.New[string]()}
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
		g.Skipped.Insert(entry.Skips...)
	}
	for i := range entries {
		name := entries[i].Name
		if g.entries[name] == &entries[i] && !replaced[name] && !g.Skipped.Has(name) {
			g.Heads = append(g.Heads, name)
		}
	}
	return g
}

// Chain returns the entries that replace each other from a head on, and the names of a cycle, if it ends in one.
// A name that is skipped ends it: an upgrade does not go there.
func (g *Graph) Chain(head string) (names, cycle []string) {
	index := map[string]int{}
	for entry := g.entries[head]; entry != nil; entry = g.entries[entry.Replaces] {
		index[entry.Name] = len(names)
		names = append(names, entry.Name)
		if g.Skipped.Has(entry.Replaces) {
			break
		}
		if start, known := index[entry.Replaces]; known {
			return names, names[start:]
		}
	}
	return names, nil
}

// Stranded returns the entries, in the order of the channel, that are neither on the chain nor skipped: there is
// no upgrade from them to the head.
func (g *Graph) Stranded(entries []Entry, chain []string) (names []string) {
	reached := sets.New(chain...)
	for i := range entries {
		name := entries[i].Name
		if g.entries[name] != nil && !reached.Has(name) && !g.Skipped.Has(name) {
			names = append(names, name)
		}
	}
	return names
}

// ParseRange parses a skipRange. An empty one has no version.
func ParseRange(text string) (within semver.Range, err error) {
	switch {
	case text == "":
		return func(semver.Version) bool { return false }, nil
	case len(text) > maxRange:
		return nil, fmt.Errorf("is longer than %d bytes", maxRange)
	}
	defer parallel.RecoverAs("parser gave up", &err)
	return semver.ParseRange(text)
}

// maxRange bounds a skipRange in bytes: each search for the successor of a bundle parses it.
const maxRange = 1_000
