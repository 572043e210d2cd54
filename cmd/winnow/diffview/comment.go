// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Bounds of a comment. GitHub accepts 65,536 characters.
const (
	maxMarkdown = 60_000 // bytes
	maxReasons  = 50
	maxNames    = 20     // names of a list
	maxName     = 80     // characters of a name
	maxCode     = 300    // characters of a text
	maxCauses   = 1_500  // characters of a sentence with the cause of what is unknown
	maxDiffText = 20_000 // bytes
)

// rank is the priority of a part when not all parts fit a comment.
type rank int

// Ranks of parts.
const (
	rankDecision rank = iota
	rankSummary
	rankList // only if folds do not fit
	rankFold
	ranks
)

// part is a part of a comment that is included or left out as a whole. Later texts are shorter.
type part struct {
	rank  rank
	texts []string
}

func partOf(r rank, texts ...string) part { return part{rank: r, texts: texts} }

// sizeOf returns the length of a text in a comment, with the line between two parts.
func sizeOf(text string) int {
	if strings.TrimSpace(text) == "" {
		return 0
	}
	return len(text) + 1
}

// fit joins the parts that fit. Of a rank whose first texts do not all fit, it takes the last ones. If the folds do not fit,
// lists precede them, and a line counts the parts that are left out.
func fit(parts []part, limit int) string {
	const note = "\n**%s left out here: a comment has at most %d characters.** `winnow diff -o table` has all.\n"
	room := limit - len(note) - 60
	chosen := make([]string, len(parts))
	left := map[rank]int{}
	lists := !fits(parts, room, func(r rank) bool { return r != rankList })
	for r := range ranks {
		if r == rankList && !lists {
			continue
		}
		whole := fits(parts, room, func(of rank) bool { return of == r })
		for i, p := range parts {
			if p.rank != r {
				continue
			}
			shown := p.texts[0]
			if !whole {
				shown = p.texts[len(p.texts)-1]
			}
			if sizeOf(shown) <= room {
				chosen[i], room = shown, room-sizeOf(shown)
			} else {
				left[r]++
			}
		}
	}
	var text strings.Builder
	for _, shown := range chosen {
		if sizeOf(shown) == 0 {
			continue
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(shown)
	}
	if missing := leftOut(left); missing != "" {
		fmt.Fprintf(&text, note, missing, limit)
	}
	return text.String()
}

// fits reports whether the first texts of all parts of some ranks fit.
func fits(parts []part, room int, counts func(rank) bool) bool {
	for _, p := range parts {
		if counts(p.rank) {
			room -= sizeOf(p.texts[0])
		}
	}
	return room >= 0
}

// leftOut returns the number of parts of each kind that are left out, empty for none.
func leftOut(left map[rank]int) string {
	var missing plaintext.Texts
	missing.Add(left[rankFold] > 0, "%s with details", plaintext.Count(left[rankFold], "fold"))
	missing.Add(left[rankList] > 0, "%s of applications", plaintext.Count(left[rankList], "list"))
	summaries := left[rankDecision] + left[rankSummary]
	missing.Add(summaries > 0, "%s", plaintext.Count(summaries, "summary part"))
	switch text := strings.Join(missing, ", "); {
	case text == "":
		return ""
	case len(missing) == 1 && strings.HasPrefix(text, "1 "):
		return text + " is"
	default:
		return text + " are"
	}
}

// code returns a code span, in which text is neither markup, a mention nor a link.
func code(text string) string { return codeUpTo(text, maxCode) }

// causes is code for a sentence with nested errors. The last one is the cause.
func causes(text string) string { return codeUpTo(text, maxCauses) }

func codeUpTo(text string, most int) string {
	text = plaintext.Brief(text, most)
	if text == "" {
		return "` `"
	}
	quotes := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return quotes + text + quotes
}

func codes(texts []string) string { return excerpt.List(texts, maxNames, shortCode) }

// fence returns a code block, which the text cannot end.
func fence(language, text string) string {
	quotes := strings.Repeat("`", max(3, longestRun(text)+1))
	var w strings.Builder
	fmt.Fprintf(&w, "%s%s\n", quotes, language)
	for line := range strings.Lines(text) {
		fmt.Fprintln(&w, plaintext.Printable(line))
	}
	fmt.Fprintln(&w, quotes)
	return w.String()
}

// longestRun returns the length of the longest run of backticks.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// shortCode returns a code span of at most maxName characters.
func shortCode(text string) string { return code(plaintext.Brief(text, maxName)) }
