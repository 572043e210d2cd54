// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	action = regexp.MustCompile(`(?m)^ *(?:- )?uses: *(.*)$`)
	pinned = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v[0-9.]+$`)
)

// A tag of an action can be moved to other code, which then runs with the rights of the workflow.
func TestActionsArePinnedByDigest(t *testing.T) {
	found := 0
	for _, pattern := range []string{"../../.github/workflows/*.yaml", "../../.github/actions/*/action.yml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range action.FindAllStringSubmatch(string(content), -1) {
				if found++; !pinned.MatchString(match[1]) {
					t.Errorf("%s uses %s: pin it as OWNER/NAME@DIGEST # VERSION", file, match[1])
				}
			}
		}
	}
	if found == 0 {
		t.Error("no action was found")
	}
}
