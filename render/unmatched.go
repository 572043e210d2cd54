package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/spelling"
)

// Known is what catalogs have to be selected by. The zero value has nothing.
type Known struct {
	// Names of applications, Tiers, and Labels of the metadata.yaml as <key>=<value>.
	Names, Tiers, Labels map[string]bool
}

// KnownOf returns what all applications of catalogs have, shadowed ones too.
func KnownOf(sources []selection.Source) Known {
	k := Known{Names: map[string]bool{}, Tiers: map[string]bool{}, Labels: map[string]bool{}}
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
}

// And returns what either has.
func (k Known) And(other Known) Known {
	both := Known{Names: map[string]bool{}, Tiers: map[string]bool{}, Labels: map[string]bool{}}
	for _, one := range []Known{k, other} {
		maps.Copy(both.Names, one.Names)
		maps.Copy(both.Tiers, one.Tiers)
		maps.Copy(both.Labels, one.Labels)
	}
	return both
}

// of returns what a mention is compared with.
func (k Known) of(m Mention) map[string]bool {
	switch m.kind {
	case mentionsTier:
		return k.Tiers
	case mentionsLabel:
		return k.Labels
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

// Matches reports whether there is what a mention names. That of a field is no concern of it.
func (k Known) Matches(m Mention) bool { return m.kind == mentionsField || k.of(m)[m.Value] }

// Unmatched is a mention that matches nothing.
type Unmatched struct {
	Mention
	// Nearest is what may have been meant; empty where nothing is near, and of all but the first few.
	Nearest string
	// Known is what could have been named, sorted; of the first few.
	Known []string
}

// String returns the field, the value and what may have been meant.
func (u Unmatched) String() string {
	text := u.Field + " " + excerpt.Quoted(u.Value)
	if u.Nearest != "" {
		text += " (did you mean " + excerpt.Quoted(u.Nearest) + "?)"
	}
	return text
}

// MaxAdvised bounds the mentions for which something near is looked for: there may be thousands.
const MaxAdvised = 20

// UnmatchedOf returns the mentions of the options that match nothing in the sources, in the order of
// the spec. What is to be omitted from documents is not looked at.
func UnmatchedOf(sources []selection.Source, opts Options) []Unmatched {
	return unmatched(sources, opts, nil)
}

// unmatched also looks at what is to be omitted: omitted has the indexes of what was, nil without any
// documents.
func unmatched(sources []selection.Source, opts Options, documents []document) []Unmatched {
	if len(opts.Mentions) == 0 {
		return nil
	}
	known, fields := KnownOf(sources), omittedOf(documents)
	var found []Unmatched
	refused := 0
	for _, m := range opts.Mentions {
		switch {
		case m.kind == mentionsField && (len(documents) == 0 || fields.indexes[m.omitted]):
		case m.kind == mentionsField:
			found = append(found, Unmatched{Mention: m, Nearest: fields.nearest(m.Value), Known: fields.known()})
		case !known.Matches(m):
			u := Unmatched{Mention: m}
			if len(found) < MaxAdvised && (!m.refuses || refused < MaxAdvised) {
				u.Known, u.Nearest = known.choices(m)
			}
			// What is kept out may be there one day, unless it is misspelt.
			if m.refuses && u.Nearest == "" {
				refused++
				continue
			}
			found = append(found, u)
		}
	}
	return found
}

// omitted is what documents had of the fields to omit, and which fields they have directly below spec.
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

// nearest corrects the first name of a path, which is the one that is known of all documents.
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
