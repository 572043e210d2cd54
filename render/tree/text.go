// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// text is a string that every parser reads as a string.
type text string

// MarshalYAML implements yaml.Marshaler.
func (t text) MarshalYAML() (any, error) { return t.node() }

// node quotes every text that is not a word. The encoder would decide by YAML
// 1.2, while kustomize reads parts of the file by YAML 1.1.
func (t text) node() (*yaml.Node, error) {
	if err := CheckText(string(t)); err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: string(t)}
	if !isWord(string(t)) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n, nil
}

// CheckText returns an error if kustomize cannot read s back from a
// kustomization.yaml.
func CheckText(s string) error {
	if !utf8.ValidString(s) { // the encoder would write !!binary
		return fmt.Errorf("%s is not valid UTF-8", quote(s))
	}
	if strings.ContainsFunc(s, isForbidden) {
		return fmt.Errorf("%s contains a control character", quote(s))
	}
	return nil
}

// isForbidden reports whether kustomize cannot read the character back. Escaped,
// it is legal in the file, but kustomize writes it without the escape, and then
// fails to read that or, with a next line (U+0085), reads a space.
func isForbidden(r rune) bool {
	switch r {
	case '\t', '\n', '\r':
		return false
	case '\ufffe', '\uffff':
		return true
	}
	return unicode.IsControl(r)
}

// isWord reports whether s needs no quotes: a letter first, then letters,
// digits and the punctuation of names, and no word that means something else.
func isWord(s string) bool {
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return false
	}
	for i, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		inside := '0' <= c && c <= '9' || c == '.' || c == '/' || c == '_' || c == '-'
		if !letter && (i == 0 || !inside) {
			return false
		}
	}
	return true
}

// literal is a document within the document. Its strings are quoted, so that a
// literal block can hold every character.
type literal []byte

// MarshalYAML implements yaml.Marshaler.
func (l literal) MarshalYAML() (any, error) {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.LiteralStyle, Value: string(l)}, nil
}

// block is text that is written as a literal block; the encoder quotes it if a
// block cannot hold it.
type block string

// MarshalYAML implements yaml.Marshaler.
func (b block) MarshalYAML() (any, error) {
	n, err := text(b).node()
	if err == nil && strings.Contains(string(b), "\n") {
		n.Style = yaml.LiteralStyle
	}
	return n, err
}

// pairs is a mapping of strings, sorted by the bytes of its keys: the encoder
// itself sorts digits in keys as numbers.
type pairs map[string]string

// MarshalYAML implements yaml.Marshaler.
func (p pairs) MarshalYAML() (any, error) {
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	for _, key := range slices.Sorted(maps.Keys(p)) {
		for _, s := range []string{key, p[key]} {
			scalar, err := text(s).node()
			if err != nil {
				return nil, err
			}
			mapping.Content = append(mapping.Content, scalar)
		}
	}
	return mapping, nil
}

// node is a file or a directory: its own fs.FileInfo and fs.DirEntry.
type node struct {
	name     string
	dir      bool
	content  []byte
	children []fs.DirEntry // sorted by name
}

func (n *node) Name() string               { return n.name }
func (n *node) Size() int64                { return int64(len(n.content)) }
func (n *node) ModTime() time.Time         { return time.Time{} }
func (n *node) IsDir() bool                { return n.dir }
func (n *node) Sys() any                   { return nil }
func (n *node) Type() fs.FileMode          { return n.Mode().Type() }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }
func (n *node) String() string             { return fs.FormatFileInfo(n) }

func (n *node) Mode() fs.FileMode {
	if n.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
