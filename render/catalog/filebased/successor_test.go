// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
)

func version(t *testing.T, text string) Version {
	t.Helper()
	parsed, err := parseVersion(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestSuccessions(t *testing.T) {
	channel := &Channel{Name: "c", Entries: []graph.Entry{
		{Name: "p.v2.1.0", Replaces: "p.v2.0.0", SkipRange: ">=1.5.0 <2.1.0"},
		{Name: "p.v2.0.0", Replaces: "p.v1.9.0", Skips: []string{"p.v1.0.0", "p.v0.1.0"}},
	}}
	for _, test := range []struct {
		name, bundle, version string
		want                  bool
	}{
		{"the bundle is the head", "p.v2.1.0", "2.1.0", true},
		{"the bundle is another entry", "p.v2.0.0", "2.0.0", true},
		{"a bundle that is absent is replaced", "p.v1.9.0", "1.0.1", true},
		{"a bundle that is absent is skipped", "p.v0.1.0", "0.1.0", true},
		{"the version is in a skipRange", "other", "1.5.0", true},
		{"a pre-release is in a skipRange", "other", "2.1.0-rc.1", true},
		{"build metadata are of no matter", "other", "1.5.0+x", true},
		{"the version is at the end of a skipRange", "other", "2.1.0", false},
		{"the version is below", "p.v1.4.0", "1.4.0", false},
		{"the version is above", "p.v3.0.0", "3.0.0", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := channel.Successions().Has(test.bundle, version(t, test.version)); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// Where one step leads from an installed bundle to an entry, further ones lead to the head, unless entries skip higher
// versions: for each part of a channel that may be kept, Has is what a search over all steps finds.
func TestRandomChannelsNeedOneStep(t *testing.T) {
	for seed := range uint64(50) {
		one := generate(seed, true).load(t).Packages[0]
		for _, keep := range keepsOf(one) {
			pruned, _, err := one.Prune(keep)
			if err != nil {
				continue
			}
			for _, channel := range pruned.Channels {
				for _, installed := range one.Bundles {
					if got, want := channel.Successions().Has(installed.Name, installed.Version), reachesHead(pruned, channel, installed); got != want {
						t.Fatalf("seed %d, channel %s, bundle %s: got %t", seed, channel.Name, installed.Name, got)
					}
				}
			}
		}
	}
}

// reachesHead reports whether upgrades lead from a bundle to the head, in any number of steps.
func reachesHead(of *Package, channel *Channel, installed *Bundle) bool {
	bundles, head := of.bundlesByName(), channel.head()
	seen := map[string]bool{installed.Name: true}
	for waiting := []*Bundle{installed}; len(waiting) > 0; waiting = waiting[1:] {
		for _, entry := range channel.Entries {
			alone := Channel{Entries: []graph.Entry{entry}}
			if !seen[entry.Name] && alone.Successions().Has(waiting[0].Name, waiting[0].Version) {
				seen[entry.Name] = true
				waiting = append(waiting, bundles[entry.Name])
			}
		}
	}
	return seen[head]
}

func TestHeads(t *testing.T) {
	loaded, err := Load(t.Context(), os.DirFS("testdata/orchard"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range loaded.Packages {
		for channel, head := range one.Heads() {
			got = append(got, fmt.Sprintf("%s %s %s", one.Name, channel, head.Name))
		}
	}
	slices.Sort(got)
	want := []string{"lemon candidate lemon.v2.1.0", "lemon stable lemon.v2.0.0", "plum old plum-v1.0.0-1", "plum v1 plum.v1.1.0"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
