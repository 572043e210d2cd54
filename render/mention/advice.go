package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/spelling"
)

// maxKnown bounds the known values that are listed.
const maxKnown = 10

// Advice returns the nearest value to a mention that matches nothing, and the values that it could name.
func (k Known) Advice(m Mention) string {
	known, nearest := k.choices(m)
	return advice(known, nearest)
}

func advice(known []string, nearest string) string {
	return strings.TrimSpace(didYouMean(nearest) + " " + theCatalogsHave(known))
}

func didYouMean(nearest string) string {
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", excerpt.Quoted(nearest))
}

func theCatalogsHave(known []string) string {
	if len(known) == 0 {
		return "the catalogs have none"
	}
	return "the catalogs have " + excerpt.List(known, maxKnown, excerpt.Quoted)
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
			sentence += ": " + didYouMean(u.Nearest)
		}
		if list := theCatalogsHave(u.Known); !listed[list] {
			listed[list] = true
			sentence += " (" + list + ")"
		}
		sentences = append(sentences, sentence)
	}
	if more := len(unmatched) - MaxAdvised; more > 0 {
		sentences = append(sentences, fmt.Sprintf("%d more match nothing in the catalogs", more))
	}
	return sentences
}
