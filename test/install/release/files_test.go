// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	code = regexp.MustCompile("(?ms)^ *```.*?^ *```$|`[^`]*`")
	link = regexp.MustCompile(`\]\(([^)\s#]+)|(?m:^\[[^\]]+\]: ([^\s#]+))`)
)

// Who reads the archive has no clone: what its pages link to is in it.
func TestTheArchiveOfTheDocumentationHasWhatItLinksTo(t *testing.T) {
	repository := os.DirFS("../../..")
	checked := 0
	for _, documented := range documentation() {
		err := fs.WalkDir(repository, documented, func(page string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(page) != ".md" {
				return err
			}
			text, err := fs.ReadFile(repository, page)
			for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
				target := match[1] + match[2]
				if strings.Contains(target, "://") {
					continue
				}
				checked++
				if target = path.Join(path.Dir(page), target); !isDocumented(target) {
					t.Errorf("%s links to %s, which the archive does not have", page, target)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if checked == 0 {
		t.Error("no page has a link")
	}
}

// isDocumented reports whether the archive has a file.
func isDocumented(file string) bool {
	for _, documented := range documentation() {
		if file == documented || strings.HasPrefix(file, documented+"/") {
			return true
		}
	}
	return false
}
