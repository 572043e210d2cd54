// SPDX-License-Identifier: Apache-2.0

package mention

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/spelling"
)

// Known are the values in catalogs that a spec can select by. The zero value is empty.
type Known struct {
	// Names of applications, Tiers, Labels of the metadata.yaml as <key>=<value>, and Channels of versions.
	Names, Tiers, Labels, Channels sets.Set[string]
}

// KnownOf returns the values of all applications in the catalogs, shadowed ones included.
func KnownOf(sources []selection.Source) Known {
	k := Known{Names: sets.New[string](), Tiers: sets.New[string](), Labels: sets.New[string](), Channels: sets.New[string]()}
	for _, source := range sources {
		if source.Catalog == nil {
			continue
		}
		for _, a := range source.Catalog.Applications {
			k.add(a)
		}
	}
	return k
}

func (k Known) add(a *catalog.Application) {
	k.Names.Insert(a.Name)
	if a.Metadata.Tier != "" {
		k.Tiers.Insert(a.Metadata.Tier)
	}
	for key, value := range a.Metadata.Labels {
		k.Labels.Insert(key + "=" + value)
	}
	k.Channels.Insert(a.Channels()...)
}

// of returns the values that a mention of this kind can name.
func (k Known) of(m Mention) sets.Set[string] {
	switch m.kind {
	case mentionsTier:
		return k.Tiers
	case mentionsLabel:
		return k.Labels
	case mentionsChannel:
		return k.Channels
	case mentionsLabelKey:
		keys := sets.New[string]()
		for label := range k.Labels {
			key, _, _ := strings.Cut(label, "=")
			keys.Insert(key)
		}
		return keys
	}
	return k.Names
}

// Matches reports whether the catalogs have the value that a mention names. A field always matches: it is
// compared with documents.
func (k Known) Matches(m Mention) bool { return m.kind == mentionsField || k.of(m).Has(m.Value) }

// Knowledge has the Known of the sources that mentions can match.
type Knowledge struct {
	sources []selection.Source
	known   map[int]Known
}

// NewKnowledge returns the knowledge of the sources of a selection, in their order.
func NewKnowledge(sources []selection.Source) Knowledge {
	return Knowledge{sources: sources, known: map[int]Known{}}
}

// For returns the values that the sources have which the mention can match.
func (k Knowledge) For(m Mention) Known {
	known, ok := k.known[m.source]
	if !ok {
		known = KnownOf(m.Among(k.sources))
		k.known[m.source] = known
	}
	return known
}

// forget removes the names of applications that the limits of all their sources refuse: for the rules of the
// selection they do not exist.
func (k Knowledge) forget(decisions []selection.Decision) {
	all := k.For(Mention{})
	for i, d := range decisions {
		first := i == 0 || decisions[i-1].Application.Name != d.Application.Name
		if first && d.Rule == selection.RuleSourceLimit {
			all.Names.Delete(d.Application.Name)
		}
	}
}

// choices returns the values that a mention could name, sorted, and the nearest one. For a label with a
// known key these are the values of that key, for any other label the known keys.
func (k Known) choices(m Mention) (known []string, nearest string) {
	if m.kind != mentionsLabel {
		known = slices.Sorted(maps.Keys(k.of(m)))
		return known, first(spelling.Nearest(m.Value, known))
	}
	key, value, _ := strings.Cut(m.Value, "=")
	var values []string
	for label := range k.Labels {
		if of, known, _ := strings.Cut(label, "="); of == key {
			values = append(values, known)
		}
	}
	if len(values) == 0 {
		known, nearest = k.choices(Mention{Value: key, kind: mentionsLabelKey})
		if nearest != "" {
			nearest += "=" + value
		}
		return known, nearest
	}
	slices.Sort(values)
	for _, one := range values {
		known = append(known, key+"="+one)
	}
	if nearest = first(spelling.Nearest(value, values)); nearest != "" {
		nearest = key + "=" + nearest
	}
	return known, nearest
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
