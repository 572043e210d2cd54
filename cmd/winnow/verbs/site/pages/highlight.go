// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"regexp"
	"strings"
)

// span is a part of a YAML text with the class of its colour, empty for none.
type span struct{ Class, Text string }

// Classes of spans.
const (
	classKey     = "k"
	classString  = "s"
	classNumber  = "n"
	classComment = "c"
)

var (
	keyPattern     = regexp.MustCompile(`^((?:- +)*)("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'\[\]{},&*!|>%@-][^#:]*?|-[^\s:#]+)(:)(?:\s|$)`)
	commentPattern = regexp.MustCompile(`(?:^|\s)#.*$`)
	numberPattern  = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_.eE+-]*|true|false|null|~)$`)
	blockPattern   = regexp.MustCompile(`[|>][-+0-9]*$`)
)

// highlight cuts YAML into spans, line by line: it needs no valid YAML, and its spans together are the text.
func highlight(text string) []span {
	var out spans
	block := -1 // the indentation of the key of a block of text, -1 outside of one
	for line := range strings.Lines(text) {
		content := strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimLeft(content, " \t")
		indent := len(content) - len(trimmed)
		switch {
		case block >= 0 && (trimmed == "" || indent > block):
			out.add(classString, content)
		default:
			block = -1
			out.add("", content[:indent])
			if out.line(trimmed) {
				block = indent
			}
		}
		out.add("", line[len(content):])
	}
	return out
}

// spans merges neighbours of one class.
type spans []span

func (s *spans) add(class, text string) {
	switch n := len(*s); {
	case text == "":
	case n > 0 && (*s)[n-1].Class == class:
		(*s)[n-1].Text += text
	default:
		*s = append(*s, span{class, text})
	}
}

// line adds a line without its indentation, and reports whether a block of text follows.
func (s *spans) line(text string) (block bool) {
	rest := text
	if key := keyPattern.FindStringSubmatch(rest); key != nil {
		s.add("", key[1])
		s.add(classKey, key[2])
		s.add("", key[3])
		rest = rest[len(key[1])+len(key[2])+len(key[3]):]
	} else if strings.HasPrefix(rest, "- ") {
		s.add("", "- ")
		rest = rest[2:]
	}
	comment := ""
	if !strings.ContainsAny(rest, `"'`) || strings.HasPrefix(strings.TrimSpace(rest), "#") {
		if at := commentPattern.FindStringIndex(rest); at != nil {
			rest, comment = rest[:at[0]], rest[at[0]:]
		}
	}
	value := strings.TrimSpace(rest)
	class := ""
	switch {
	case numberPattern.MatchString(value):
		class = classNumber
	case value != "" && !strings.ContainsAny(value[:1], "[{&*!|>-"):
		class = classString
	}
	s.add(class, rest)
	s.add(classComment, comment)
	return blockPattern.MatchString(value)
}
