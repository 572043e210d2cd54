// Package plaintext makes text of catalogs and specs, which is untrusted, fit to be shown: in lines of a terminal, in
// columns and in counted nouns. It must not know what the text is about, nor any markup.
package plaintext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLine is the number of characters that a line of a terminal has.
const MaxLine = 80

// Line makes one line of a text: what is not printable becomes a space, and spaces in a row become one, so that
// the text cannot move the cursor of a terminal.
func Line(text string) string {
	clean := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(clean), " ")
}

// Printable returns a line with its indentation and without its end. Tabs become four spaces, and what is not
// printable becomes the replacement character.
func Printable(line string) string {
	line = strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, line)
}

// Wrap breaks a text into lines of at most MaxLine characters, each of which begins with the indent. Longer words
// stay whole.
func Wrap(text, indent string) string {
	var lines []string
	line := indent
	for word := range strings.FieldsSeq(Line(text)) {
		if line != indent && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > MaxLine {
			lines = append(lines, line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}

// Brief makes one line of a text, cut to at most so many characters, the last three of which mark the cut.
func Brief(text string, width int) string {
	text = Line(text)
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-3]) + "..."
}

// Count returns "1 thing" or "2 things".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
