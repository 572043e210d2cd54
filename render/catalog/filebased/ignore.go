// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"path"
	"strings"

	"github.com/fluxcd/pkg/sourceignore/gitignore"
)

// IgnoreFile is the name of a file that has patterns of files that are not part of the catalog, with the rules of .gitignore.
const IgnoreFile = ".indexignore"

// ignored are the patterns of all ignore files. Like OLM's, they are compared with files only, so that a
// pattern may take in a file of a directory that an earlier one leaves out.
type ignored []gitignore.Pattern

// add adds the patterns of an ignore file.
func (i *ignored) add(name string, data []byte, found *report) {
	var domain []string
	if dir := path.Dir(name); dir != "." {
		domain = strings.Split(dir, "/")
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			*i = append(*i, gitignore.ParsePattern(line, domain))
		}
	}
	if len(*i) > maxPatterns {
		found.file(name, "takes the patterns of all files %s over %d", IgnoreFile, maxPatterns)
		*i = (*i)[:maxPatterns]
	}
}
