// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
)

// generated is a valid package that a seed makes: its channels have random graphs, and its documents are written in
// random ways.
type generated struct {
	*rand.Rand
	// tame reports whether entries replace and skip lower versions alone.
	tame     bool
	name     string
	versions []string // of the bundles, from the lowest to the highest
	bundles  []string
	channels map[string][]graph.Entry
	files    fstest.MapFS
}

func generate(seed uint64, tame bool) *generated {
	g := &generated{Rand: rand.New(rand.NewPCG(seed, 0)), tame: tame, name: fmt.Sprintf("p%d", seed), channels: map[string][]graph.Entry{}, files: fstest.MapFS{}}
	for i := range 1 + g.IntN(10) {
		version := fmt.Sprintf("1.%d.0", i)
		if g.IntN(5) == 0 {
			version = fmt.Sprintf("1.%d.0-rc.1+b.%d", i, i)
		}
		g.versions = append(g.versions, version)
		g.bundles = append(g.bundles, fmt.Sprintf(pick(g, "%s.v%d", "%s.v%d", "%s.v%d", "%s: #%d", "%s, [%d]", "%s'\"%d", "- %s\\%d", "ä%s\n%d"), g.name, i))
	}
	for i := range 1 + g.IntN(3) {
		g.channel(fmt.Sprintf(pick(g, "c%d", "c%d", "c: %d", "'c, %d]"), i), i == 0)
	}
	g.write()
	return g
}

func pick[T any](g *generated, values ...T) T { return values[g.IntN(len(values))] }

// channel adds a channel, with all bundles or some of them.
func (g *generated) channel(name string, all bool) {
	var entries []graph.Entry
	for i, bundle := range g.bundles {
		if all || g.IntN(3) > 0 || i == len(g.bundles)-1 {
			entries = append(entries, g.entry(bundle, i))
		}
	}
	g.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	for !g.repaired(entries) {
		continue
	}
	g.channels[name] = entries
}

// other returns the name of a bundle, mostly of a lower one, or of none.
func (g *generated) other(i int) string {
	switch {
	case g.IntN(6) == 0:
		return g.name + ".absent" + fmt.Sprint(g.IntN(3))
	case g.tame || g.IntN(4) > 0:
		if i == 0 {
			return g.name + ".v-1"
		}
		return g.bundles[max(0, i-1-g.IntN(3))]
	}
	return pick(g, g.bundles...)
}

func (g *generated) entry(name string, i int) graph.Entry {
	entry := graph.Entry{Name: name}
	if g.IntN(5) > 0 {
		entry.Replaces = g.other(i)
	}
	for range pick(g, 0, 0, 0, 1, 2, 4) {
		entry.Skips = append(entry.Skips, g.other(i))
	}
	entry.SkipRange = pick(g, "", "", "", fmt.Sprintf("<1.%d.0", i), fmt.Sprintf(">=1.%d.0 <1.%d.0", i/2, i))
	return entry
}

// repaired changes one thing that makes a graph invalid, and reports whether there was none.
func (g *generated) repaired(entries []graph.Entry) bool {
	top := g.bundles[len(g.bundles)-1]
	at := func(name string) *graph.Entry {
		return &entries[slices.IndexFunc(entries, func(e graph.Entry) bool { return e.Name == name })]
	}
	graph := graph.New(entries, func(string) bool { return true })
	if len(graph.Heads) == 0 {
		for i := range entries {
			if entries[i].Replaces == top {
				entries[i].Replaces = ""
			}
			entries[i].Skips = slices.DeleteFunc(slices.Clone(entries[i].Skips), func(name string) bool { return name == top })
		}
		return false
	}
	if len(graph.Heads) > 1 {
		head := pick(g, graph.Heads...)
		if g.tame || slices.Contains(graph.Heads, top) {
			head = top
		}
		for _, other := range graph.Heads {
			if other != head {
				at(head).Skips = append(at(head).Skips, other)
			}
		}
		return false
	}
	chain, cycle := graph.Chain(graph.Heads[0])
	if len(cycle) > 0 {
		at(cycle[len(cycle)-1]).Replaces = ""
		return false
	}
	stranded := graph.Stranded(entries, chain)
	for _, other := range stranded {
		by := at(pick(g, chain...))
		if g.tame {
			by = at(top)
		}
		by.Skips = append(by.Skips, other)
	}
	return len(stranded) == 0
}

func (g *generated) load(t *testing.T) *Catalog {
	t.Helper()
	loaded, err := Load(t.Context(), g.files)
	if err != nil {
		t.Fatalf("%s: %v\n%s", g.name, err, g.text())
	}
	return loaded
}

func (g *generated) text() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(g.files)) {
		fmt.Fprintf(&text, "-- %s --\n%s", name, g.files[name].Data)
	}
	return text.String()
}
