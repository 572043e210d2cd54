// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"bytes"
	"errors"
	"flag"
	"reflect"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
)

var randomGraphs = flag.Uint64("graphs", 30, "number of random packages to prune")

// Whatever a package is, and what of it is to be kept: see checkPruned.
func TestRandomGraphsArePruned(t *testing.T) {
	tried, refused, decided := 0, 0, 0
	for seed := range *randomGraphs {
		catalog := generate(seed, false).load(t)
		one := catalog.Packages[0]
		for _, keep := range keepsOf(one) {
			tried++
			pruned, decisions, err := one.Prune(keep)
			var why *PruneError
			if errors.As(err, &why) {
				refused++
				continue
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if len(decisions) > 0 {
				decided++
			}
			checkPruned(t, one, keep, pruned, decisions)
			if t.Failed() {
				t.Fatalf("seed %d:\n%s", seed, generate(seed, false).text())
			}
		}
		checkRecord(t, one)
	}
	t.Logf("%d pruned, %d of them refused, %d with decisions", tried, refused, decided)
}

// checkPruned checks that a result can be written and read, that documents keep their bytes and entries their values,
// and that each difference to what should be kept is one decision.
func checkPruned(t *testing.T, one *Package, keep Keep, pruned *Package, decisions []Decision) {
	t.Helper()
	catalog := &Catalog{Packages: []*Package{pruned}}
	if again := rewritten(t, catalog); describe(again) != describe(catalog) {
		t.Errorf("written and read again:\n%s\nbefore:\n%s", describe(again), describe(catalog))
	}
	if same, more, err := pruned.Prune(Keep{}); err != nil || len(more) > 0 || !slices.Equal(same.Blobs, pruned.Blobs) {
		t.Errorf("pruned again: %v, %v", more, err)
	}
	checkBytes(t, one, keep, pruned)
	checkDecisions(t, one, keep, pruned, decisions)
	before := one.bundlesByName()
	for _, bundle := range pruned.Bundles {
		if !reflect.DeepEqual(bundle, before[bundle.Name]) {
			t.Errorf("the bundle was %+v, and is %+v", before[bundle.Name], bundle)
		}
	}
	if pruned.Deprecated != one.Deprecated {
		t.Errorf("deprecated: %q", pruned.Deprecated)
	}
}

// checkBytes checks that a document is one of the package, or consists of bytes of it, in their order.
func checkBytes(t *testing.T, one *Package, keep Keep, pruned *Package) {
	t.Helper()
	at := 0
	for _, blob := range pruned.Blobs {
		for one.Blobs[at].Document != blob.Document || one.Blobs[at].Path != blob.Path {
			at++ // it ends, because documents keep their order
		}
		before := one.Blobs[at]
		isOther := blob.Schema == SchemaPackage && keep.DefaultChannel != one.DefaultChannel
		switch {
		case blob == before:
		case blob.Schema == SchemaBundle, blob.JSON != before.JSON, !isOther && !isPart(blob.Data, before.Data):
			t.Errorf("the document was\n%s\nand is\n%s", before.Data, blob.Data)
		}
	}
}

// isPart reports whether all bytes of a text are in another one, in their order.
func isPart(text, of []byte) bool {
	for _, c := range text {
		i := bytes.IndexByte(of, c)
		if i < 0 {
			return false
		}
		of = of[i+1:]
	}
	return true
}

func checkDecisions(t *testing.T, one *Package, keep Keep, pruned *Package, decisions []Decision) {
	t.Helper()
	bundles := one.bundlesByName()
	for _, channel := range one.Channels {
		wanted := func(name string) bool { return keep.Bundle(channel.Name, bundles[name]) }
		kept := map[string]graph.Entry{}
		for _, after := range pruned.Channels {
			if after.Name != channel.Name {
				continue
			}
			if after.Deprecated != channel.Deprecated {
				t.Errorf("channel %s: deprecated: %q", channel.Name, after.Deprecated)
			}
			for _, entry := range after.Entries {
				kept[entry.Name] = entry
			}
		}
		count := 0
		for _, entry := range channel.Entries {
			after, isKept := kept[entry.Name]
			if isKept && !reflect.DeepEqual(entry, after) {
				t.Errorf("channel %s: the entry was %+v, and is %+v", channel.Name, entry, after)
			}
			var want []Action
			switch {
			case isKept && !wanted(entry.Name):
				want = []Action{Add}
			case !isKept && wanted(entry.Name):
				want = []Action{Drop}
			}
			var got []Action
			for _, decision := range decisions {
				if decision.Channel == channel.Name && decision.Bundle == entry.Name {
					got = append(got, decision.Action)
				}
			}
			if count += len(want); !slices.Equal(got, want) {
				t.Errorf("channel %s, entry %s: decisions %v, want %v", channel.Name, entry.Name, got, want)
			}
		}
		if g := graph.New(channel.Entries, wanted); count > 0 && isSound(g, channel.Entries) {
			t.Errorf("channel %s: %d decisions about a graph that is valid", channel.Name, count)
		}
	}
}

func isSound(g graph.Graph, entries []graph.Entry) bool {
	if len(g.Heads) != 1 {
		return false
	}
	chain, cycle := g.Chain(g.Heads[0])
	return len(cycle) == 0 && len(g.Stranded(entries, chain)) == 0
}
