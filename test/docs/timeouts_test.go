// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	manifestEnd = regexp.MustCompile("(?m)^(---|```.*)$")
	fetching    = regexp.MustCompile(`(?m)^kind: (OCIRepository|GitRepository|Bucket)$`)
	withTimeout = regexp.MustCompile(`(?m)^  timeout: `)
)

// The CRDs of source-controller 1.10 have no default any more, and earlier controllers end without a timeout.
func TestEachSourceThatPeopleCopyHasATimeout(t *testing.T) {
	found := 0
	for _, file := range files(t, ".yaml", ".md", ".tmpl") {
		if path := filepath.ToSlash(file); strings.Contains(path, "/testdata/") || strings.Contains(path, "/test/") {
			continue
		}
		for _, manifest := range manifestEnd.Split(read(t, file), -1) {
			if kind := fetching.FindString(manifest); kind != "" && strings.Contains(manifest, "\n  interval: ") {
				if found++; !withTimeout.MatchString(manifest) {
					t.Errorf("%s: %s without spec.timeout", name(t, file), kind)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("%d sources were found", found)
	}
}
