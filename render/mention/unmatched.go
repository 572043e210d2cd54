package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/spelling"
)

// Known are the values in catalogs that a spec can select by. The zero value is empty.
type Known struct {
	// Names of applications, Tiers, Labels of the metadata.yaml as <key>=<value>, and Channels of versions.
	Names, Tiers, Labels, Channels map[string]bool
}

func newKnown() Known {
	return Known{Names: map[string]bool{}, Tiers: map[string]bool{}, Labels: map[string]bool{}, Channels: map[string]bool{}}
}

// KnownOf returns the values of all applications in the catalogs, shadowed ones included.
func KnownOf(sources []selection.Source) Known {
	k := newKnown()
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
	k.Names[a.Name] = true
	if a.Metadata.Tier != "" {
		k.Tiers[a.Metadata.Tier] = true
	}
	for key, value := range a.Metadata.Labels {
		k.Labels[key+"="+value] = true
	}
	for _, channel := range a.Channels() {
		k.Channels[channel] = true
	}
}

// And returns the union of both.
func (k Known) And(other Known) Known {
	both := newKnown()
	for _, one := range []Known{k, other} {
		maps.Copy(both.Names, one.Names)
		maps.Copy(both.Tiers, one.Tiers)
		maps.Copy(both.Labels, one.Labels)
		maps.Copy(both.Channels, one.Channels)
	}
	return both
}

// of returns the values that a mention of this kind can name.
func (k Known) of(m Mention) map[string]bool {
	switch m.kind {
	case mentionsTier:
		return k.Tiers
	case mentionsLabel:
		return k.Labels
	case mentionsChannel:
		return k.Channels
	case mentionsLabelKey:
		keys := map[string]bool{}
		for label := range k.Labels {
			key, _, _ := strings.Cut(label, "=")
			keys[key] = true
		}
		return keys
	}
	return k.Names
}

// Matches reports whether the catalogs have the value that a mention names. A field always matches: it is
// compared with documents.
func (k Known) Matches(m Mention) bool { return m.kind == mentionsField || k.of(m)[m.Value] }

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
			delete(all.Names, d.Application.Name)
		}
	}
}

// Unmatched is a mention that matches nothing.
type Unmatched struct {
	Mention
	// Nearest is the known value that resembles it most; empty where none does, and for all but the first
	// few mentions.
	Nearest string
	// Known are the values that it could name, sorted; empty for all but the first few mentions.
	Known []string
	// Reason of an instance that cannot be resolved; empty for the others.
	Reason string
}

// UnmatchedInstances returns the mentions of instances that cannot be resolved.
func UnmatchedInstances(unresolved []instance.Unresolved) []Unmatched {
	var all []Unmatched
	for _, u := range unresolved {
		all = append(all, Unmatched{Mention: Mention{Field: u.Field, Value: u.Value}, Reason: u.Reason, Nearest: u.Nearest})
	}
	return all
}

// String returns the field, the value and the nearest known value.
func (u Unmatched) String() string {
	text := u.Field + " " + excerpt.Quoted(u.Value)
	if u.Reason != "" {
		text = u.Field + ": " + u.Reason
	}
	if u.Nearest != "" {
		text += " (did you mean " + excerpt.Quoted(u.Nearest) + "?)"
	}
	return text
}

// MaxAdvised bounds the mentions whose nearest value is searched: there may be thousands.
const MaxAdvised = 20

// UnmatchedOf returns the mentions of the options that match nothing in the sources, in the order of
// the spec. It ignores spec.omitFields, which is compared with documents.
func UnmatchedOf(sources []selection.Source, opts Options) []Unmatched {
	return unmatched(sources, opts, nil, nil)
}

// unmatched is UnmatchedOf with the fields of spec.omitFields that no document had, unless there are no
// documents, and with the names of applications that the limits of sources refuse.
func unmatched(sources []selection.Source, opts Options, decisions []selection.Decision, documents []document) []Unmatched {
	if len(opts.Mentions) == 0 {
		return nil
	}
	knowledge, fields := NewKnowledge(sources), omittedOf(documents)
	knowledge.forget(decisions)
	var found []Unmatched
	refused := 0
	for _, m := range opts.Mentions {
		known := knowledge.For(m)
		switch {
		case m.kind == mentionsField && (len(documents) == 0 || fields.indexes[m.omitted]):
		case m.kind == mentionsField:
			found = append(found, Unmatched{Mention: m, Nearest: fields.nearest(m.Value), Known: fields.known()})
		case !known.Matches(m):
			u := Unmatched{Mention: m}
			if len(found) < MaxAdvised && (!m.refuses || refused < MaxAdvised) {
				u.Known, u.Nearest = known.choices(m)
			}
			// A later catalog may have the name that is excluded, unless it is misspelt.
			if m.refuses && u.Nearest == "" {
				refused++
				continue
			}
			found = append(found, u)
		}
	}
	return found
}

// omitted has the indexes of the fields in spec.omitFields that documents had, and the names of all their
// fields directly below spec.
type omitted struct {
	indexes map[int]bool
	names   map[string]bool
}

func omittedOf(documents []document) omitted {
	o := omitted{indexes: map[int]bool{}, names: map[string]bool{}}
	for _, d := range documents {
		for _, i := range d.omitted {
			o.indexes[i] = true
		}
		for _, name := range d.fields {
			o.names[name] = true
		}
	}
	return o
}

// nearest corrects the first name of a path: only fields directly below spec are known.
func (o omitted) nearest(path string) string {
	name, rest, nested := strings.Cut(path, ".")
	if o.names[name] {
		return ""
	}
	near := first(spelling.Nearest(name, slices.Concat(slices.Collect(maps.Keys(o.names)), adminFields())))
	if near == "" || !nested {
		return near
	}
	return near + "." + rest
}

// known are the fields that can be omitted.
func (o omitted) known() []string {
	return slices.Sorted(maps.Keys(o.names))
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
