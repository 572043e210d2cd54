// SPDX-License-Identifier: Apache-2.0

package mention

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/spelling"
)

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

// UnmatchedInstances returns the mentions of instances that cannot be resolved. It leaves out an instance whose backend
// the platform leaves out: its list of backends explains that.
func UnmatchedInstances(unresolved []instance.Unresolved) []Unmatched {
	unexplained := each.Where(unresolved, func(u instance.Unresolved) bool { return !u.OffPlatform })
	return each.Map(unexplained, func(u instance.Unresolved) Unmatched {
		return Unmatched{Mention: Mention{Field: u.Field, Value: u.Value}, Reason: u.Reason, Nearest: u.Nearest}
	})
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

// Adds reports whether a spec selects by a name, tier, label or channel that the last one lacks, and that is unmatched: it may
// be the misspelt name of an application that moves to the selection.
func Adds(last *v1alpha1.CatalogSelectionSpec, now v1alpha1.CatalogSelectionSpec, unmatched []Unmatched) bool {
	var before []Mention
	if last != nil {
		before = including(*last)
	}
	return slices.ContainsFunc(including(now), func(m Mention) bool {
		same := func(other Mention) bool { return m.kind == other.kind && m.Value == other.Value }
		return !slices.ContainsFunc(before, same) && slices.ContainsFunc(unmatched, func(u Unmatched) bool { return same(u.Mention) })
	})
}

// MaxAdvised bounds the mentions whose nearest value is searched: there may be thousands.
const MaxAdvised = 20

// Document is what an application of an artifact has of a spec's names.
type Document struct {
	// Omitted are the indexes in spec.omitFields of the fields that the application had.
	Omitted []int
	// Fields are the names of all its fields directly below spec.
	Fields []string
}

// UnmatchedOf returns the mentions that match nothing in the sources, in their order. It ignores spec.omitFields, which is
// compared with documents.
func UnmatchedOf(sources []selection.Source, mentions []Mention) []Unmatched {
	return UnmatchedIn(sources, mentions, nil, nil)
}

// UnmatchedIn is UnmatchedOf with the fields of spec.omitFields that no document had, unless there are no
// documents, and with the names of applications that the limits of sources refuse.
func UnmatchedIn(sources []selection.Source, mentions []Mention, decisions []selection.Decision, documents []Document) []Unmatched {
	if len(mentions) == 0 {
		return nil
	}
	bySource := map[int]known{0: knownOf(sources)}
	bySource[0].forget(decisions)
	fields := omittedOf(documents)
	var found []Unmatched
	refused := 0
	for _, m := range mentions {
		if bySource[m.source] == nil {
			bySource[m.source] = knownOf(m.among(sources))
		}
		values := bySource[m.source]
		switch {
		case m.kind == mentionsField && (len(documents) == 0 || fields.indexes.Has(m.omitted)):
		case m.kind == mentionsField:
			found = append(found, Unmatched{Mention: m, Nearest: fields.nearest(m.Value), Known: sets.List(fields.names)})
		case !values[m.kind].Has(m.Value):
			u := Unmatched{Mention: m}
			if len(found) < MaxAdvised && (!m.refuses || refused < MaxAdvised) {
				u.Known, u.Nearest = values.choices(m)
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
	indexes sets.Set[int]
	names   sets.Set[string]
}

func omittedOf(documents []Document) omitted {
	o := omitted{indexes: sets.New[int](), names: sets.New[string]()}
	for _, d := range documents {
		o.indexes.Insert(d.Omitted...)
		o.names.Insert(d.Fields...)
	}
	return o
}

// nearest corrects the first name of a path: only fields directly below spec are known.
func (o omitted) nearest(path string) string {
	name, rest, nested := strings.Cut(path, ".")
	if o.names.Has(name) {
		return ""
	}
	near := spelling.Likeliest(name, slices.Concat(sets.List(o.names), adminFields()))
	if near == "" || !nested {
		return near
	}
	return near + "." + rest
}

// maxKnown bounds the known values that are listed.
const maxKnown = 10

func theCatalogsHave(known []string) string {
	if len(known) == 0 {
		return "the catalogs have none"
	}
	return "the catalogs have " + excerpt.List(known, maxKnown, excerpt.Quoted)
}

// Sentences returns a sentence for each of the first MaxAdvised names, with the nearest value, and with the
// known values where no sentence before has the same. A last sentence counts the other names.
func Sentences(unmatched []Unmatched) []string {
	var sentences []string
	listed := map[string]bool{}
	for _, u := range unmatched[:min(len(unmatched), MaxAdvised)] {
		if u.Reason != "" {
			sentences = append(sentences, u.String())
			continue
		}
		sentence := fmt.Sprintf("%s %s matches nothing in the catalogs", u.Field, excerpt.Quoted(u.Value))
		if u.Nearest != "" {
			sentence += ": did you mean " + excerpt.Quoted(u.Nearest) + "?"
		}
		if list := theCatalogsHave(u.Known); !listed[list] {
			listed[list] = true
			sentence += " (" + list + ")"
		}
		sentences = append(sentences, sentence)
	}
	return excerpt.First(sentences, MaxAdvised, len(unmatched)-len(sentences), func(more int) string {
		return fmt.Sprintf("%d more match nothing in the catalogs", more)
	})
}
