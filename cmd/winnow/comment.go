package main

import (
	"fmt"
	"strings"
)

const (
	maxNames = 20  // of a list
	maxCode  = 300 // characters of a text
)

// part of a comment, which is there or not as a whole.
type part struct {
	text string
	fold bool
}

// fit joins the parts that fit, and says how many do not.
func fit(parts []part, limit int) string {
	const note = "\n**%d of %d parts are left out here: a comment has at most %d characters.** `winnow diff -o text` has all of them.\n"
	room := limit - len(note) - 30
	chosen := make([]bool, len(parts))
	left := 0
	for _, folds := range []bool{false, true} {
		for i, p := range parts {
			if p.fold != folds {
				continue
			}
			if size := len(p.text) + 1; size <= room {
				chosen[i], room = true, room-size
			} else {
				left++
			}
		}
	}
	var text strings.Builder
	for i, p := range parts {
		if !chosen[i] {
			continue
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(p.text)
	}
	if left > 0 {
		fmt.Fprintf(&text, note, left, len(parts), limit)
	}
	return text.String()
}

// code makes a code span of a text, in which nothing is markup, a mention or a link.
func code(text string) string {
	text = brief(text, maxCode)
	if text == "" {
		return "` `"
	}
	quotes := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return quotes + text + quotes
}

func codes(texts []string) string {
	var all []string
	for _, text := range texts[:min(len(texts), maxNames)] {
		all = append(all, code(text))
	}
	list := strings.Join(all, ", ")
	if more := len(texts) - maxNames; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// fence makes a block of a text, which cannot end it.
func fence(language, text string) string {
	quotes := strings.Repeat("`", max(3, longestRun(text)+1))
	var w strings.Builder
	fmt.Fprintf(&w, "%s%s\n", quotes, language)
	for line := range strings.Lines(text) {
		fmt.Fprintln(&w, printable(line))
	}
	fmt.Fprintln(&w, quotes)
	return w.String()
}

// longestRun returns how many backticks follow each other.
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
