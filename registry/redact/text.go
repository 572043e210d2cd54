// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"regexp"
	"strings"
)

// mark takes the place of what is left out.
const mark = "***"

var (
	// users matches the user and the password of a URL. A password may have a / or an @, which a URL would escape, and in quotes
	// spaces and quotes as well. A port, which has digits alone, is none.
	users = regexp.MustCompile(`(?i)"[a-z]+://[^\s/:@"\[]*:[0-9]*(?:[^/0-9"\\]|\\.)(?:[^"\\]|\\.)*@|[a-z]*://(?:[^\s/"<>\\]*@|[^\s/:@"<>\\\[]+:[0-9]*[^\s/0-9"<>\\][^\s"<>\\]*@)`)
	// queries matches the query of a URL, which may be a token or a signature, and what ends it. A question mark at
	// the end of a sentence begins none.
	queries = regexp.MustCompile(`(?i)([a-z]://[^\s?"<>\\]*)\?[:;,.)'\]>]*(?:[^\s"\\:;,.)'\]>]|\\[^"])(?:[^\s"\\]|\\[^"])*?([:;,.)'\]>]*(?:[\s"]|\\"|$))`)
)

// Users leaves out the users and passwords of the URLs in a text, and keeps the user git of SSH, which is no secret. A document
// of JSON stays one.
func Users(text string) string {
	return users.ReplaceAllStringFunc(text, func(user string) string {
		if user == "ssh://git@" {
			return user
		}
		scheme, _, _ := strings.Cut(user, "://")
		return scheme + "://" + mark + "@"
	})
}

// Text leaves out of the URLs in a text what Users does, and queries.
func Text(text string) string { return queries.ReplaceAllString(Users(text), "$1$2") }

// Line is Text with spaces in place of control characters.
func Line(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, Text(text))
}
