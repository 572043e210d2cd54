// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"path/filepath"
	"regexp"
	"testing"
)

// A guide begins with what its reader has at the end, and how long it takes.
var promise = regexp.MustCompile(`\A# .+\n\n- \*\*At the end\*\*: .+\n(?:  .+\n)*- \*\*Time\*\*: about \d+ (?:minutes|hours?)\b.+\n`)

func TestEachGuideBeginsWithWhatAReaderGetsAndWhen(t *testing.T) {
	guides, err := filepath.Glob(filepath.Join(root, "docs/guides/*.md"))
	if err != nil || len(guides) == 0 {
		t.Fatalf("%d guides: %v", len(guides), err)
	}
	for _, guide := range guides {
		if !promise.MatchString(read(t, guide)) {
			t.Errorf("%s does not begin with the lines \"At the end\" and \"Time\"", name(t, guide))
		}
	}
}
