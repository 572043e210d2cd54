// SPDX-License-Identifier: Apache-2.0

package document

import "bytes"

// Piece is a document of a file.
type Piece struct {
	// Above is the number of lines of the file above it.
	Above int
	// Data are its bytes in the file, with the comments before it.
	Data []byte
}

// Split cuts a file of YAML into its documents where lines begin with --- or ..., which YAML allows nowhere
// else. A marker between two documents belongs to neither, unless it has a comment or content behind it. What
// has no content, such as a comment before a marker, belongs to the next document, or to none at the end.
func Split(data []byte) []Piece {
	var pieces []Piece
	s := splitter{}
	for line := range bytes.Lines(data) {
		end := s.at + len(line)
		switch text := bytes.TrimSpace(line); {
		case isMarker(line, "---"):
			if s.filled {
				pieces = append(pieces, s.piece(data, s.at))
				if len(text) == len("---") {
					s.begin(end, s.number+1)
				}
			}
			s.filled = !IsBlank(text[len("---"):])
		case isMarker(line, "..."):
			if s.filled {
				pieces = append(pieces, s.piece(data, end))
				s.begin(end, s.number+1)
			}
		default:
			s.filled = s.filled || len(text) > 0 && text[0] != '#' && line[0] != '%' || HasBreak(text)
		}
		s.at, s.number = end, s.number+1
	}
	if s.filled {
		pieces = append(pieces, s.piece(data, len(data)))
	}
	return pieces
}

// splitter is at the beginning of a line.
type splitter struct {
	// at is the offset of the line, and number counts the lines above it.
	at, number int
	// start and above are at and number for the first line of the current document.
	start, above int
	// filled is true once the current document has content.
	filled bool
}

func (s *splitter) begin(start, above int) { s.start, s.above, s.filled = start, above, false }

// piece returns the current document, and begins the next one where it ends.
func (s *splitter) piece(data []byte, end int) Piece {
	p := Piece{Above: s.above, Data: data[s.start:end:end]}
	s.begin(s.at, s.number)
	return p
}

// HasBreak reports whether a parser of YAML 1.1 ends the line, and so a comment, before its end: content may follow.
func HasBreak(text []byte) bool {
	return bytes.IndexByte(text, '\r') >= 0 || bytes.Contains(text, []byte("\u0085")) ||
		bytes.Contains(text, []byte("\u2028")) || bytes.Contains(text, []byte("\u2029"))
}

// isMarker reports whether a line begins with a marker of YAML.
func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// IsBlank reports whether nothing but a comment follows a marker; rest is what stands behind it in its line.
func IsBlank(rest []byte) bool {
	text := bytes.TrimLeft(rest, " \t")
	return len(text) == 0 || text[0] == '#' && len(text) < len(rest)
}
