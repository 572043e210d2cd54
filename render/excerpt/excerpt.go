// Package excerpt cuts text of catalogs and specs that messages repeat: it may be anybody's, and messages
// end up in conditions. It must not know what the text is about.
package excerpt

import (
	"fmt"
	"unicode/utf8"
)

// maxText bounds what a message repeats of a text, in bytes.
const maxText = 80

// Of cuts a text that is longer than 80 bytes, and marks the cut.
func Of(text string) string { return To(text, maxText) }

// Quoted is Of in quotes.
func Quoted(text string) string { return fmt.Sprintf("%q", Of(text)) }

// To keeps at most limit bytes of a text, to a rune's boundary, and marks the cut.
func To(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "..."
}
