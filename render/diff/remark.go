// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Remark is a sentence on places, which are clusters or files; without any, on the whole.
type Remark struct {
	Places []string
	Text   string
	// Alike reports that the sentences differ by the names of the places: Text is the first one's.
	Alike bool
}

// Remarks groups sentences of the report by what they have behind the place that they begin with, in the order of the
// first sentence of each. The name of its own place makes no sentence differ.
func (r *Report) Remarks(sentences []string) []Remark {
	var all []Remark
	indexes := map[string]int{}
	for _, sentence := range sentences {
		place, text, found := strings.Cut(sentence, ": ")
		if !found || !r.Places[place] {
			place, text = "", sentence
		}
		key := "\x00" + text
		if place != "" {
			key = withoutPlace(text, place)
		}
		i, known := indexes[key]
		if !known {
			i = len(all)
			indexes[key] = i
			all = append(all, Remark{Text: text})
		}
		if place != "" && !slices.Contains(all[i].Places, place) {
			all[i].Places = append(all[i].Places, place)
		}
		all[i].Alike = all[i].Alike || text != all[i].Text
	}
	return all
}

// withoutPlace replaces in a sentence the path of a cluster or a file, and the last name of this path.
func withoutPlace(sentence, place string) string {
	if place == "" {
		return sentence
	}
	sentence = replaceWord(sentence, place, "\x00")
	last := place[strings.LastIndexAny(place, "/ ")+1:]
	return replaceWord(sentence, last, "\x00")
}

// replaceWord replaces the occurrences of a word that are not part of a longer name.
func replaceWord(text, word, by string) string {
	if word == "" {
		return text
	}
	var out strings.Builder
	for {
		i := strings.Index(text, word)
		if i < 0 {
			out.WriteString(text)
			return out.String()
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		out.WriteString(text[:i])
		if isNamePart(before) || isNamePart(after) {
			out.WriteString(word)
		} else {
			out.WriteString(by)
		}
		text = text[i+len(word):]
	}
}

func isNamePart(r rune) bool {
	return r == '-' || r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r))
}
