// SPDX-License-Identifier: Apache-2.0

package configs

import "bytes"

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

// goesOn reports whether a text has content after a line of three dots, which ends a document, and returns the number
// of lines above that content.
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
