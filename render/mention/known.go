// SPDX-License-Identifier: Apache-2.0

package mention

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/spelling"
)

// known maps the kinds of mentions to the values in catalogs that they can name.
type known map[mentionKind]sets.Set[string]

// knownOf returns the values of all applications in the catalogs, shadowed ones included.
func knownOf(sources []selection.Source) known {
	names, tiers, labels, keys, channels := sets.New[string](), sets.New[string](), sets.New[string](), sets.New[string](), sets.New[string]()
	for _, source := range sources {
		if source.Catalog == nil {
			continue
		}
		for _, a := range source.Catalog.Applications {
			names.Insert(a.Name)
			channels.Insert(a.Channels()...)
			if a.Metadata.Tier != "" {
				tiers.Insert(a.Metadata.Tier)
			}
			for key, value := range a.Metadata.Labels {
				keys.Insert(key)
				labels.Insert(key + "=" + value)
			}
		}
	}
	return known{mentionsName: names, mentionsTier: tiers, mentionsLabel: labels, mentionsLabelKey: keys, mentionsChannel: channels}
}

// forget removes the names of applications that the limits of all their sources refuse: for the rules of the
// selection they do not exist.
func (k known) forget(decisions []selection.Decision) {
	for i, d := range decisions {
		first := i == 0 || decisions[i-1].Application.Name != d.Application.Name
		if first && d.Rule == selection.RuleSourceLimit {
			k[mentionsName].Delete(d.Application.Name)
		}
	}
}

// choices returns the values that a mention could name, sorted, and the nearest one. For a label with a
// known key these are the values of that key, for any other label the known keys.
func (k known) choices(m Mention) (all []string, nearest string) {
	if m.kind != mentionsLabel {
		all = sets.List(k[m.kind])
		return all, spelling.Likeliest(m.Value, all)
	}
	key, value, _ := strings.Cut(m.Value, "=")
	var values []string
	for label := range k[mentionsLabel] {
		if of, one, _ := strings.Cut(label, "="); of == key {
			values = append(values, one)
		}
	}
	if len(values) == 0 {
		all, nearest = k.choices(Mention{Value: key, kind: mentionsLabelKey})
		if nearest != "" {
			nearest += "=" + value
		}
		return all, nearest
	}
	slices.Sort(values)
	for _, one := range values {
		all = append(all, key+"="+one)
	}
	if nearest = spelling.Likeliest(value, values); nearest != "" {
		nearest = key + "=" + nearest
	}
	return all, nearest
}
