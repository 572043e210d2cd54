package compat

import (
	"maps"
	"path"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
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

func TestOpmAcceptsWhatIsPruned(t *testing.T) {
	o := newOpm(t)
	tried, repaired := map[string]int{}, map[string]int{}
	for name, files := range samples(t) {
		catalog, err := filebased.Load(t.Context(), files)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range catalog.Packages {
			for _, channel := range one.Channels {
				for at := range channel.Entries {
					for _, bound := range bounds() {
						tried[bound.name]++
						if o.prune(t, name, catalog, one, channel, bound, at) {
							repaired[bound.name]++
						}
					}
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tried)) {
		t.Logf("%s: %d pruned, %d with decisions", name, tried[name], repaired[name])
	}
}

// prune keeps one channel up to a bound, and reports whether there were decisions.
func (o opm) prune(t *testing.T, name string, catalog *filebased.Catalog, of *filebased.Package, channel *filebased.Channel, within bound, at int) bool {
	t.Helper()
	order := map[string]int{}
	for _, bundle := range of.Bundles {
		if slices.ContainsFunc(channel.Entries, func(e filebased.Entry) bool { return e.Name == bundle.Name }) {
			order[bundle.Name] = len(order)
		}
	}
	kept := 0
	pruned, decisions, err := catalog.Prune([]filebased.Keep{{Package: of.Name, DefaultChannel: channel.Name, Bundle: func(in string, bundle *filebased.Bundle) bool {
		if in != channel.Name || !within.keep(order[bundle.Name], at) {
			return false
		}
		kept++
		return true
	}}})
	what := name + ": " + of.Name + " " + channel.Name + ", " + within.name + ": " + channel.Entries[at].Name
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
	for _, file := range filebased.Files(slices.Concat(pruned.Package(of.Name).Blobs, pruned.Others)) {
		files[path.Join(of.Name, file.Name)] = &fstest.MapFile{Data: file.Data}
	}
	if problem := o.validate(t, files); problem != "" {
		t.Errorf("%s: opm refuses it: %s", what, problem)
	}
	return len(decisions) > 0
}
