package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog"
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

// maxKnown bounds the known values that are listed, and maxListed the bytes of one.
const (
	maxKnown  = 10
	maxListed = 80
)

// Advice says what may have been meant by a mention that matches nothing, and what there is.
func (k Known) Advice(m Mention) string {
	known := slices.Sorted(maps.Keys(k.of(m)))
	var parts []string
	if near := spelling.Nearest(m.Value, known); len(near) > 0 {
		parts = append(parts, fmt.Sprintf("did you mean %s?", quoted(near[0])))
	}
	if len(known) == 0 {
		return strings.Join(append(parts, "the catalogs have none"), " ")
	}
	var listed []string
	for _, one := range known[:min(len(known), maxKnown)] {
		listed = append(listed, quoted(one))
	}
	list := "the catalogs have " + strings.Join(listed, ", ")
	if more := len(known) - len(listed); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(append(parts, list), " ")
}

// quoted cuts a text that is repeated in a message, and quotes it.
func quoted(text string) string {
	if len(text) > maxListed {
		text = strings.ToValidUTF8(text[:maxListed], "") + "..."
	}
	return fmt.Sprintf("%q", text)
}

// Unmatched is a mention that matches nothing.
type Unmatched struct {
	Mention
	// Nearest is what may have been meant; empty where nothing is near, and of all but the first few.
	Nearest string
}

// String returns the field, the value and what may have been meant.
func (u Unmatched) String() string {
	text := u.Field + " " + quoted(u.Value)
	if u.Nearest != "" {
		text += " (did you mean " + quoted(u.Nearest) + "?)"
	}
	return text
}

// maxNearest bounds the mentions for which something near is looked for: there may be thousands.
const maxNearest = 20

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
	for _, m := range opts.Mentions {
		switch {
		case m.kind == mentionsField && (len(documents) == 0 || fields.indexes[m.omitted]):
		case m.kind == mentionsField:
			found = append(found, Unmatched{Mention: m, Nearest: fields.nearest(m.Value)})
		case !known.Matches(m):
			u := Unmatched{Mention: m}
			if len(found) < maxNearest {
				u.Nearest = first(spelling.Nearest(m.Value, slices.Collect(maps.Keys(known.of(m)))))
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

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
