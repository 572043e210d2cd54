// SPDX-License-Identifier: Apache-2.0

package approval

import (
	"regexp"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Malformed reports a text that is no line.
type Malformed struct {
	Text, Why string
	// Meant is the line that was meant; empty where that cannot be told.
	Meant string
}

func (e *Malformed) Error() string {
	message := excerpt.Quoted(e.Text) + " names nothing: " + e.Why
	if e.Meant != "" {
		message += " (did you mean " + excerpt.Quoted(e.Meant) + "?)"
	}
	return message
}

// corrections turn frequent mistakes into what was meant, in this order.
var corrections = []struct {
	mistake *regexp.Regexp
	meant   string
}{
	{regexp.MustCompile(`^\s+|\s+$`), ""},
	{regexp.MustCompile(`^(?i:instances?)[/ :]+`), "Instance/"},
	{regexp.MustCompile(`^([a-z0-9][a-z0-9.-]*)(?:@|\s+|:)v?([0-9][A-Za-z0-9._+~-]*)$`), "$1/$2"},
	{regexp.MustCompile(`^([a-z0-9][a-z0-9.-]*)/[A-Za-z0-9._+~-]*\*$`), "$1/*"},
	{regexp.MustCompile(`#[^/#]*$`), ""},
	{regexp.MustCompile(`[/:]+$`), ""},
}

// meant returns the line that a malformed text was meant as; empty where that cannot be told.
func meant(text string) string {
	if len(text) > MaxLength || strings.HasPrefix(text, "sha") {
		return ""
	}
	for _, c := range corrections {
		text = c.mistake.ReplaceAllString(text, c.meant)
		if (&Line{}).parses(text) {
			return text
		}
	}
	// A capital that begins the name of an application makes it a kind.
	if lower := strings.ToLower(text[:min(len(text), 1)]) + text[min(len(text), 1):]; text != instanceKind && (&Line{}).parses(lower) {
		return lower
	}
	return ""
}

// parses reports whether a text is a line, without the search for what was meant.
func (l *Line) parses(text string) bool {
	return l.read(numberPattern.ReplaceAllString(text, "")) == ""
}
