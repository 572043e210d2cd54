// SPDX-License-Identifier: Apache-2.0

// Package plaintext formats untrusted text of catalogs and specs for people: in lines of a terminal, in columns and in
// counted nouns. It must not know the meaning of the text, nor any markup.
package plaintext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLine is the number of characters in a line of a terminal.
const MaxLine = 80

// Texts are several texts, such as the parts of a line.
type Texts []string

// Add adds a text, as fmt.Sprintf makes it, if it holds.
func (t *Texts) Add(holds bool, format string, args ...any) {
	if holds {
		*t = append(*t, fmt.Sprintf(format, args...))
	}
}

// Line converts a text to one line: it replaces unprintable characters by spaces, and runs of spaces by one, so that
// the text cannot move the cursor of a terminal.
func Line(text string) string {
	return strings.Join(strings.Fields(withoutUnprintable(text, ' ')), " ")
}

// Printable returns a line with its indentation and without its end. It replaces tabs by four spaces, and
// unprintable characters by the replacement character.
func Printable(line string) string {
	return withoutUnprintable(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "), unicode.ReplacementChar)
}

func withoutUnprintable(text string, instead rune) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return instead
		}
		return r
	}, text)
}

// Wrap breaks a text into lines of at most MaxLine characters, and begins each with the indent. Longer words stay whole.
func Wrap(text, indent string) string { return WrapAt(text, indent, MaxLine) }

// WrapAt is Wrap with lines of another width.
func WrapAt(text, indent string, width int) string {
	var lines []string
	line := indent
	for word := range strings.FieldsSeq(Line(text)) {
		if line != indent && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
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

// Brief converts a text to one line of at most width characters, and at least 3. A text that is cut ends with "...".
func Brief(text string, width int) string {
	text = Line(text)
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(width-3, 0)]) + "..."
}

// Count returns "1 thing" or "2 things".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
