// SPDX-License-Identifier: Apache-2.0

package yamlnode

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// longText is the least number of bytes of a text that is worth to be kept from the parser.
	longText = 512
	// A stand-in is a word of standInStart, a number and standInEnd. It has only characters that have no meaning in YAML.
	standInStart, standInEnd = "WinnowLongText", "z"
)

// Only returns the content of the only document in data that is not empty, as Documents has it. It returns nil where there
// is none, or another one, or an error, and may return nil for any data: Documents then says more.
//
// The parser takes most of its time for long texts without spaces, such as logos in base64. So a text at the end of a line is
// replaced by a word, and put back into the value that has the word. What else the text could have been, such as a part of a
// key, a comment or an anchor, does not have the word as a value. FuzzOnly compares with Documents.
func Only(data []byte) *yaml.Node {
	short := shorten(data)
	if len(short.texts) == 0 {
		return nil
	}
	var content *yaml.Node
	for document, err := range Documents(short.data) {
		if err != nil || content != nil {
			return nil
		}
		content = document.Content[0]
	}
	if content == nil || !short.restore(content, false) || short.restored != len(short.texts) {
		return nil
	}
	return content
}

// shortened is a document in which stand-ins replace long texts.
type shortened struct {
	data  []byte
	texts [][]byte
	// restored is the number of texts that were put back.
	restored int
}

// shorten replaces the long texts at the ends of lines. It leaves data alone that has a stand-in already, or a byte order
// mark: where the parser finds one depends on what stands before it.
func shorten(data []byte) (s shortened) {
	start, copied := 0, 0
	for line := range bytes.Lines(data) {
		if from, to := textAtEnd(bytes.TrimSuffix(line, []byte("\n"))); to > 0 {
			if s.texts == nil && (bytes.Contains(data, []byte(standInStart)) || bytes.Contains(data, []byte("\ufeff"))) {
				return shortened{}
			}
			s.data = append(s.data, data[copied:start+from]...)
			s.data = append(s.data, standInStart+strconv.Itoa(len(s.texts))+standInEnd...)
			s.texts = append(s.texts, line[from:to])
			copied = start + to
		}
		start += len(line)
	}
	s.data = append(s.data, data[copied:]...)
	return s
}

// textAtEnd returns where the long text at the end of a line is, which may be in quotes; 0 without one. What stands before it
// must not be able to escape its first character.
func textAtEnd(line []byte) (from, to int) {
	if len(line) <= longText {
		return 0, 0
	}
	to = len(line)
	if last := line[to-1]; last == '"' || last == '\'' {
		to--
	}
	from = to
	for from > 0 && isBase64(line[from-1]) {
		from--
	}
	if to-from < longText || from == 0 || bytes.IndexByte([]byte(` "',`), line[from-1]) < 0 {
		return 0, 0
	}
	return from, to
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '='
}

// restore puts the texts back into the values of a node and those below it, and reports whether the parser would have read
// the same nodes. isKey is true for a key and what is below it: the parser bounds the length of keys.
func (s *shortened) restore(node *yaml.Node, isKey bool) bool {
	if node.Kind == yaml.ScalarNode && strings.Contains(node.Value, standInStart) {
		return !isKey && s.restoreScalar(node)
	}
	for i, child := range node.Content {
		if !s.restore(child, isKey || node.Kind == yaml.MappingNode && i%2 == 0) {
			return false
		}
	}
	return true
}

func (s *shortened) restoreScalar(node *yaml.Node) bool {
	parts := strings.Split(node.Value, standInStart)
	for i, part := range parts[1:] {
		number, rest, _ := strings.Cut(part, standInEnd)
		n, err := strconv.Atoi(number)
		if err != nil || n >= len(s.texts) {
			return false
		}
		parts[i+1] = string(s.texts[n]) + rest
		s.restored++
	}
	node.Value = strings.Join(parts, "")
	// What a plain value is depends on its characters.
	whole := yaml.Node{Kind: yaml.ScalarNode, Value: node.Value}
	return node.Style != 0 || whole.ShortTag() == node.Tag
}
