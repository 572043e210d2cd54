// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var glossaryRow = regexp.MustCompile(`(?m)^\| ([a-z, ]+) \| `)

// otherWords maps words to the term of the glossary that pages, comments and messages have instead.
var otherWords = map[string]string{
	"catalogue": "catalog", "catalog selection": "selection", "external artifact": "artifact",
	"held back": "held", "holds back": "held", "quarantined": "held", "allow list": "line", "whitelist": "line", "acknowledgement": "line",
	"last known good": "baseline", "management cluster": "hub", "parent cluster": "hub", "member cluster": "spoke", "leaf cluster": "spoke",
	"downstream cluster": "spoke", "hand-over": "move", "guard rail": "safeguard", "drop-in": "adoption",
}

func TestTheGlossaryHasEachTermOnceAndEachIsUsed(t *testing.T) {
	var terms []string
	table, _, _ := strings.Cut(read(t, root+"/docs/glossary.md"), "\n## ")
	for _, row := range glossaryRow.FindAllStringSubmatch(table, -1)[1:] {
		terms = append(terms, row[1])
	}
	if len(terms) < 20 || !slices.IsSorted(terms) || len(slices.Compact(slices.Clone(terms))) != len(terms) {
		t.Errorf("the terms are few, unsorted or there twice: %q", terms)
	}
	others, pages := wordsOf(otherWords), ""
	for _, file := range files(t, ".go", ".md") {
		if !hasAccent(name(t, file)) || path.Base(file) == "glossary.md" {
			continue
		}
		for _, text := range proseOf(t, file, read(t, file)) {
			if path.Ext(file) == ".md" {
				pages += strings.ToLower(text)
			}
			for _, other := range others.FindAllString(text, -1) {
				t.Errorf("%s has %q: the glossary has %s", name(t, file), other, otherWords[strings.ToLower(other)])
			}
		}
	}
	for _, term := range terms {
		for word := range strings.SplitSeq(term, ", ") {
			if !strings.Contains(pages, word) {
				t.Errorf("no page has the term %q of the glossary", word)
			}
		}
	}
}

// wordsOf matches the keys of a map as whole words.
func wordsOf(words map[string]string) *regexp.Regexp {
	var all []string
	for word := range words {
		all = append(all, regexp.QuoteMeta(word))
	}
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(all, "|") + `)\b`)
}
