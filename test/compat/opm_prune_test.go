// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
)

// bound is what is kept of the bundles of one channel, from the highest version to the lowest.
type bound struct {
	name string
	keep func(bundle, bound int) bool
}

func bounds() []bound {
	return []bound{
		{"up to it", func(bundle, bound int) bool { return bundle >= bound }},
		{"from it on", func(bundle, bound int) bool { return bundle <= bound }},
		{"all but it", func(bundle, bound int) bool { return bundle != bound }},
		{"it and the highest", func(bundle, bound int) bool { return bundle == bound || bundle == 0 }},
		{"every second one", func(bundle, bound int) bool { return (bundle+bound)%2 == 0 }},
	}
}

// pruning keeps one channel of a package up to a bound.
type pruning struct {
	sample  string
	catalog *filebased.Catalog
	of      *filebased.Package
	channel *filebased.Channel
	within  bound
	at      int
}

// prunings returns every bound of every channel of the samples.
func prunings(t *testing.T) (all []pruning) {
	t.Helper()
	found := samples(t)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		catalog, err := filebased.Load(t.Context(), found[name])
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range catalog.Packages {
			for _, channel := range one.Channels {
				for at := range channel.Entries {
					for _, within := range bounds() {
						all = append(all, pruning{name, catalog, one, channel, within, at})
					}
				}
			}
		}
	}
	return all
}

// triedPrunings are tried at random without the sweep.
const triedPrunings = 40

func TestOpmAcceptsWhatIsPruned(t *testing.T) {
	o := newOpm(t)
	all := prunings(t)
	if !isSweep() {
		random := rand.New(rand.NewPCG(1, uint64(len(all))))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:min(triedPrunings, len(all))]
	}
	tried, repaired := map[string]int{}, map[string]int{}
	for _, one := range all {
		tried[one.within.name]++
		if o.prune(t, one) {
			repaired[one.within.name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tried)) {
		t.Logf("%s: %d pruned, %d with decisions", name, tried[name], repaired[name])
	}
}

// prune prunes, and reports whether there were decisions.
func (o opm) prune(t *testing.T, p pruning) bool {
	t.Helper()
	of, channel := p.of, p.channel
	order := map[string]int{}
	for _, bundle := range of.Bundles {
		if slices.ContainsFunc(channel.Entries, func(e graph.Entry) bool { return e.Name == bundle.Name }) {
			order[bundle.Name] = len(order)
		}
	}
	kept := 0
	pruned, decisions, err := of.Prune(filebased.Keep{DefaultChannel: channel.Name, Bundle: func(in string, bundle *filebased.Bundle) bool {
		if in != channel.Name || !p.within.keep(order[bundle.Name], p.at) {
			return false
		}
		kept++
		return true
	}})
	what := p.sample + ": " + of.Name + " " + channel.Name + ", " + p.within.name + ": " + channel.Entries[p.at].Name
	if kept == 0 {
		if err == nil {
			t.Errorf("%s: nothing is kept, and that is no error", what)
		}
		return false
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return false
	}
	files := fstest.MapFS{}
	for _, file := range filebased.Files(slices.Concat(pruned.Blobs, p.catalog.Others)) {
		files[path.Join(of.Name, file.Name)] = &fstest.MapFile{Data: file.Data}
	}
	if problem := o.validate(t, files); problem != "" {
		t.Errorf("%s: opm refuses it: %s", what, problem)
	}
	return len(decisions) > 0
}
