// SPDX-License-Identifier: Apache-2.0

// Package excerpt cuts texts and lists of catalogs and specs for messages: they are untrusted, and messages
// are written to conditions. It must not know what they are about.
package excerpt

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds a text in a message, in bytes.
const maxText = 80

// Of cuts a text that is longer than 80 bytes, and marks the cut.
func Of(text string) string { return To(text, maxText) }

// Quoted is Of in quotes.
func Quoted(text string) string { return fmt.Sprintf("%q", Of(text)) }

// plainKey matches keys that need no quotes in a path.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Path returns keys with dots between them, or quoted in brackets where they have other characters than letters and digits.
func Path(keys []string, quote func(key string) string) string {
	var path strings.Builder
	for i, key := range keys {
		switch {
		case !plainKey.MatchString(key):
			path.WriteString("[" + quote(key) + "]")
		case i > 0:
			path.WriteString("." + key)
		default:
			path.WriteString(key)
		}
	}
	return path.String()
}

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

// Printable replaces the characters of a text that are not printable by spaces, but for the ends of lines: those that control
// a terminal, and those that reverse the order in which others are shown. Bytes that are no UTF-8 become U+FFFD.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

// List lists at most most of the values, and the number of the others.
func List[T any](values []T, most int, text func(T) string) string {
	var listed []string
	for _, value := range values[:min(len(values), most)] {
		listed = append(listed, text(value))
	}
	list := strings.Join(listed, ", ")
	if more := len(values) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// Clauses lists at most most of the values, which may have commas, and the number of the others, with
// the omitted ones, which are not among the values.
func Clauses[T any](values []T, most, omitted int, text func(T) string) string {
	var listed []string
	for _, value := range values[:min(len(values), most)] {
		listed = append(listed, text(value))
	}
	if more := len(values) + omitted - len(listed); more > 0 {
		listed = append(listed, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(listed, "; ")
}

// Names is List for strings.
func Names(names []string, most int) string {
	return List(names, most, func(name string) string { return name })
}
