// SPDX-License-Identifier: Apache-2.0

package yamlnode

import (
	"bytes"
	"regexp"
	"strings"
)

// causes maps messages of the parser to what is likely wrong. The messages say what the parser has expected.
var causes = []struct{ message, cause string }{
	{"mapping values are not allowed", `put a text with ": " in quotes, or correct the indentation`},
	{"cannot start any token", "put a text that begins with this character in quotes"},
	{"could not find expected ':'", "a key lacks its colon, or a text of several lines its indentation"},
	{"did not find expected ',' or", "a [ or { is not closed"},
	{"did not find expected node content", "a [ or { is not closed, or a text that begins with one lacks quotes"},
	{"did not find expected key", "the indentation differs from the lines above, or a quote ends too early"},
	{"did not find expected '-' indicator", "the indentation differs from the items above"},
	{"unexpected end of stream", "a quote is not closed"},
	{"expected alphabetic or numeric character", "put a text that begins with * or & in quotes"},
	{"unknown anchor", "put a text that begins with * in quotes"},
	{"block sequence entries are not allowed", "begin a list in a line of its own"},
}

var (
	conflictPattern = regexp.MustCompile(`(?m)^(<{7}|>{7})( |\r?$)`)
	templatePattern = regexp.MustCompile(`^\s*\{\{|:\s*\{\{`)
)

// WithCause returns the message with which the parser failed in a line of data, and behind it the likely mistake, if there is one.
func WithCause(message string, line int, data []byte) string {
	at := ""
	if offsets := LineOffsets(data); line > 0 && line <= len(offsets) {
		at = string(Line(data, offsets, line-1))
	}
	indent := at[:len(at)-len(strings.TrimLeft(at, " \t"))]
	switch {
	case conflictPattern.Match(data) && bytes.Contains(data, []byte("\n=======")):
		return message + ": a conflict of Git is not resolved"
	case strings.Contains(indent, "\t"):
		return message + ": the line has a tab: indent it with spaces"
	case templatePattern.MatchString(at):
		return message + ": a template has to be rendered first, or a text that begins with { needs quotes"
	}
	for _, known := range causes {
		if strings.Contains(message, known.message) {
			return message + ": " + known.cause
		}
	}
	return message
}
