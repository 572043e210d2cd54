// SPDX-License-Identifier: Apache-2.0

package mention

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
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
