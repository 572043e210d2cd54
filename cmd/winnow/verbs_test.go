// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A verb is a package, with those below it. Code of two verbs is in a package beside them.
func TestVerbsImportNoVerb(t *testing.T) {
	const below = "github.com/winnow-dev/winnow/cmd/winnow/verbs/"
	for _, pattern := range []string{"verbs/*/*.go", "verbs/*/*/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		for _, name := range names {
			file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			verb := strings.Split(filepath.ToSlash(name), "/")[1]
			for _, one := range file.Imports {
				path, _ := strconv.Unquote(one.Path.Value)
				if used, ok := strings.CutPrefix(path, below); ok && !strings.HasPrefix(used+"/", verb+"/") {
					t.Errorf("%s imports %s", name, path)
				}
			}
		}
	}
}
