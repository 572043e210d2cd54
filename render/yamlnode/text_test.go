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
