// SPDX-License-Identifier: Apache-2.0

// Package excerpt cuts texts and lists of catalogs and specs for messages: they are untrusted, and messages
// are written to conditions. It must not know what they are about.
package excerpt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnow-dev/winnow/render/each"
)

const (
	// maxText bounds a text in a message, in bytes.
	maxText = 80
	// mark stands where a text is cut.
	mark = "..."
)

// Of cuts a text that is longer than 80 bytes, and marks the cut.
func Of(text string) string { return To(text, maxText) }

// Quoted is Of in quotes.
func Quoted(text string) string { return fmt.Sprintf("%q", Of(text)) }

// QuotedTo quotes at most limit bytes of a text, and marks a cut behind the quotes.
func QuotedTo(text string, limit int) string {
	if len(text) <= limit {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.TrimSuffix(To(text, limit), mark)) + mark
}

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
	return text[:cut] + mark
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

// First returns at most most of the values. Without the others, and omitted ones, which are not among the values, the last
// value is what rest returns for their number.
func First[T any](values []T, most, omitted int, rest func(more int) T) []T {
	first := slices.Clip(values[:min(len(values), most)])
	if more := len(values) + omitted - len(first); more > 0 {
		return append(first, rest(more))
	}
	return first
}

// More is the last entry of a list: the number of the others.
func More(n int) string { return fmt.Sprintf("and %d more", n) }

// List lists at most most of the values, and the number of the others.
func List[T any](values []T, most int, text func(T) string) string {
	list := strings.Join(texts(values, most, text), ", ")
	if more := len(values) - most; more > 0 {
		list += " " + More(more)
	}
	return list
}

// Clauses lists at most most of the values, which may have commas, and the number of the others, with the omitted ones.
func Clauses[T any](values []T, most, omitted int, text func(T) string) string {
	omitted += max(len(values)-most, 0)
	return strings.Join(First(texts(values, most, text), most, omitted, More), "; ")
}

func texts[T any](values []T, most int, text func(T) string) (all []string) {
	return each.Map(values[:min(len(values), most)], text)
}

// Names is List for strings.
func Names(names []string, most int) string {
	return List(names, most, func(name string) string { return name })
}
