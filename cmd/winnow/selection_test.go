package main

import (
	"strings"
	"testing"
)

func TestReadFileIsBounded(t *testing.T) {
	for _, test := range []struct {
		size int
		ok   bool
	}{{maxSelectionFile, true}, {maxSelectionFile + 1, false}} {
		content, err := readFile(t.Context(), "-", strings.NewReader(strings.Repeat("#", test.size)))
		if (err == nil) != test.ok || test.ok && len(content) != test.size {
			t.Errorf("of %d bytes were read %d: %v", test.size, len(content), err)
		}
	}
}
