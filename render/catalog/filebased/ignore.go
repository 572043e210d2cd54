// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"path"
	"strings"

	"github.com/fluxcd/pkg/sourceignore/gitignore"
)

// IgnoreFile is the name of a file that has patterns of files that are not part of the catalog, with the rules of .gitignore.
const IgnoreFile = ".indexignore"

// ignored matches files with the patterns of all ignore files. Like OLM's, it compares files only, so that a
// pattern may take in a file of a directory that an earlier one leaves out.
type ignored struct {
	patterns []gitignore.Pattern
	matcher  gitignore.Matcher
}

// add adds the patterns of an ignore file.
func (i *ignored) add(name string, data []byte, found *report) {
	var domain []string
	if dir := path.Dir(name); dir != "." {
		domain = strings.Split(dir, "/")
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			i.patterns = append(i.patterns, gitignore.ParsePattern(line, domain))
		}
	}
	if len(i.patterns) > maxPatterns {
		found.file(name, "takes the patterns of all files %s over %d", IgnoreFile, maxPatterns)
		i.patterns = i.patterns[:maxPatterns]
	}
}

func (i *ignored) match(name string) bool {
	if i.matcher == nil {
		i.matcher = gitignore.NewMatcher(i.patterns)
	}
	return i.matcher.Match(strings.Split(name, "/"), false)
}
