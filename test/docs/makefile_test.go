// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"path/filepath"
	"regexp"
	"testing"
)

// What make help shows of a target: its name and the text behind ##.
var target = regexp.MustCompile(`(?m)^([a-zA-Z0-9_-]+):.*## (.*)$`)

func TestMakeHelpFitsIntoATerminal(t *testing.T) {
	const beforeText = 2 + 17 + 1
	found := target.FindAllStringSubmatch(read(t, filepath.Join(root, "Makefile")), -1)
	if len(found) == 0 {
		t.Fatal("the Makefile has no targets with a text")
	}
	for _, line := range found {
		if beforeText+len(line[2]) > 80 {
			t.Errorf("the text of %s is longer than a terminal is wide: %s", line[1], line[2])
		}
	}
}
