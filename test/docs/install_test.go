// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"regexp"
	"testing"
)

// installed is an installation that names no image; over a running controller, it would take its image away.
var installed = regexp.MustCompile(`kubectl apply [^\n]*-k config/(default|overlays/[a-z-]+)`)

func TestNoPageAppliesAnInstallationWithoutAnImage(t *testing.T) {
	for _, file := range files(t, ".md", ".yaml") {
		for _, match := range installed.FindAllString(read(t, file), -1) {
			t.Errorf("%s has %q: its pods wait with InvalidImageName", name(t, file), match)
		}
	}
}
