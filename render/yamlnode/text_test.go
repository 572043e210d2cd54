// SPDX-License-Identifier: Apache-2.0

package yamlnode_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

func TestEncode(t *testing.T) {
	got, err := yamlnode.Encode(map[string]any{"a": []string{"b"}})
	if want := "a:\n  - b\n"; err != nil || string(got) != want {
		t.Errorf("Encode() = %q, %v, want %q", got, err, want)
	}
	if _, err := yamlnode.Encode(func() {}); err == nil || !strings.HasPrefix(err.Error(), "the encoder gave up: ") {
		t.Errorf("Encode() of a function = %v", err)
	}
}

func TestNullsInBracesStayNulls(t *testing.T) {
	const text = "a: {x: , y}\nb: &b [~, {z}]\nc:\nd: *b\n"
	node, err := yamlnode.Head([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := yamlnode.Encode(node)
	if want := "a: {x: null, y: null}\nb: &b [~, {z: null}]\nc:\nd: *b\n"; err != nil || string(got) != want {
		t.Errorf("Encode() = %q, %v, want %q", got, err, want)
	}
	if value := node.Content[0].Content[1].Content[1].Value; value != "" {
		t.Errorf("the node has %q now", value)
	}
}

func TestLines(t *testing.T) {
	document := []byte("a\r\n\nb")
	offsets := yamlnode.LineOffsets(document)
	var lines []string
	for i := range offsets {
		lines = append(lines, string(yamlnode.Line(document, offsets, i)))
	}
	if want := []string{"a", "", "b"}; !slices.Equal(lines, want) {
		t.Errorf("lines are %q, want %q", lines, want)
	}
}
