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

// Advice says what may have been meant by a mention that matches nothing, and what there is.
func (k Known) Advice(m Mention) string {
	known, nearest := k.choices(m)
	return advice(known, nearest)
}

func advice(known []string, nearest string) string {
	return strings.TrimSpace(meant(nearest) + " " + there(known))
}

func meant(nearest string) string {
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", excerpt.Quoted(nearest))
}

func there(known []string) string {
	if len(known) == 0 {
		return "the catalogs have none"
	}
	return "the catalogs have " + excerpt.List(known, maxKnown, excerpt.Quoted)
}

// choices returns what a mention could name, sorted, and which of that may be meant. Of a label whose
// key is known these are its values, of another one the keys.
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

// Sentences returns for each of the first MaxAdvised names what may have been meant and what there is, of
// each kind once, and for the others how many they are.
func Sentences(unmatched []Unmatched) []string {
	var sentences []string
	listed := map[string]bool{}
	for _, u := range unmatched[:min(len(unmatched), MaxAdvised)] {
		sentence := fmt.Sprintf("%s %s matches nothing in the catalogs", u.Field, excerpt.Quoted(u.Value))
		if u.Nearest != "" {
			sentence += ": " + meant(u.Nearest)
		}
		if list := there(u.Known); !listed[list] {
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
