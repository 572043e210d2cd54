package functions

import (
	"bytes"
	"strings"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// lines are those of a text.
type lines struct {
	text    []byte
	offsets []int
}

func newLines(text []byte) lines { return lines{text, yamlnode.LineOffsets(text)} }

// insert inserts lines behind a line, counted from 1; 0 is the beginning.
func (l lines) insert(line int, added string) []byte {
	end := "\n"
	if bytes.Contains(l.text, []byte("\r\n")) {
		end = "\r\n"
		added = strings.ReplaceAll(added, "\n", end)
	}
	if line >= len(l.offsets) { // the last line has no end
		return []byte(string(l.text) + end + added)
	}
	at := l.offsets[line]
	return []byte(string(l.text[:at]) + added + string(l.text[at:]))
}

// remove leaves out the lines from one to before another, counted from 1.
func (l lines) remove(from, before int) []byte {
	end := len(l.text)
	if before-1 < len(l.offsets) {
		end = l.offsets[before-1]
	}
	return []byte(string(l.text[:l.offsets[from-1]]) + string(l.text[end:]))
}

// endOfField returns the line behind a field at the left margin and its list. A comment there belongs to the list only if an
// element follows.
func (l lines) endOfField(line int) int {
	end := line + 1
	for next := end; next <= len(l.offsets); next++ {
		indent, blank := l.indentOf(next)
		content := yamlnode.Line(l.text, l.offsets, next-1)
		switch {
		case blank, content[0] == '#':
		case indent == 0 && content[0] != '-':
			return end
		default:
			end = next + 1
		}
	}
	return end
}

// endOfEntry returns the line behind an entry of a mapping in block style, and what is indented deeper below it.
func (l lines) endOfEntry(line int) int {
	at, _ := l.indentOf(line)
	end := line + 1
	for next := end; next <= len(l.offsets); next++ {
		indent, blank := l.indentOf(next)
		switch {
		case blank:
		case indent <= at:
			return end
		default:
			end = next + 1
		}
	}
	return end
}

// indentOf returns the number of spaces before the content of a line, counted from 1; blank is true without content.
func (l lines) indentOf(line int) (indent int, blank bool) {
	content := yamlnode.Line(l.text, l.offsets, line-1)
	trimmed := bytes.TrimLeft(content, " ")
	return len(content) - len(trimmed), len(bytes.TrimSpace(trimmed)) == 0
}

// literal replaces the lines of a text that begins below a line, with the indentation of its first one.
func (l lines) literal(line int, value string) []byte {
	first := line + 1
	for ; first <= len(l.offsets); first++ {
		if _, blank := l.indentOf(first); !blank {
			break
		}
	}
	if first > len(l.offsets) {
		return nil
	}
	indent, _ := l.indentOf(first)
	end := first
	for next := first; next <= len(l.offsets); next++ {
		deep, blank := l.indentOf(next)
		if !blank && deep < indent {
			break
		}
		if !blank {
			end = next + 1
		}
	}
	var text strings.Builder
	for one := range strings.Lines(strings.TrimRight(value, "\n") + "\n") {
		if strings.TrimSpace(one) != "" {
			text.WriteString(strings.Repeat(" ", indent))
		}
		text.WriteString(one)
	}
	rest := lines{l.remove(line+1, end), nil}
	rest.offsets = yamlnode.LineOffsets(rest.text)
	return rest.insert(line, text.String())
}

// ambiguous returns what kustomize reads differently than a parser of YAML does, with the number of lines above it: it cuts
// a text at each line that begins with ---, so that a config could hide in another one, and reads one document of a piece.
func ambiguous(text []byte) (above int, problem string) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		marker, isMarker := bytes.CutPrefix(line, []byte("---"))
		behind := bytes.TrimLeft(marker, " \t")
		switch {
		case bytes.ContainsAny(line, "\r\u0085\u2028\u2029\ufeff"):
			return above, "has a line break or a byte order mark that only some readers of YAML take for one: remove or escape it"
		case bytes.HasPrefix(line, []byte("%")):
			return above, "has a line that begins with %, as a directive does: remove it"
		case isMarker && len(behind) > 0 && (behind[0] != '#' || len(behind) == len(marker)):
			return above, "has a line that begins with ---, where kustomize cuts the file: only a comment may follow"
		}
		above++
	}
	if above, found := goesOn(text); found {
		return above, "goes on behind a line of three dots, where kustomize stops: begin the next document with ---"
	}
	return 0, ""
}

// goesOn reports whether a text has content behind the end of a document, a line of three dots, and the number of lines
// above it.
func goesOn(text []byte) (above int, found bool) {
	ended := false
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		end, isEnd := bytes.CutPrefix(line, []byte("..."))
		switch {
		case bytes.HasPrefix(line, []byte("---")):
			ended = false
		case isEnd && (len(end) == 0 || end[0] == ' ' || end[0] == '\t'):
			ended, line = true, end
		}
		if ended && !isComment(line) {
			return above, true
		}
		above++
	}
	return 0, false
}

// isComment reports whether a line has no content.
func isComment(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}
