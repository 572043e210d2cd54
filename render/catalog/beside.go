// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// besideDefinitions returns the error of a tree of the format Definitions with one violation for all files that
// have no definition, such as charts, where a pattern separates them from the others. Otherwise invalid stays as it is.
func besideDefinitions(fsys fs.FS, invalid *violation.InvalidError) error {
	files, err := Definitions{}.Files(fsys)
	if err != nil {
		return err
	}
	var own, others []string
	for _, name := range files {
		data, err := document.Read(fsys, maxDefinitionsFile, &violation.Findings{Path: name})
		switch {
		case err != nil:
			return err
		case hasDefinition(data):
			own = append(own, name)
		default:
			others = append(others, name)
		}
	}
	pattern := includeOf(own, others)
	if pattern == "" || len(others) == 0 {
		return invalid
	}
	advice := violation.Violation{Rule: violation.RuleFormat, Path: ".", Message: fmt.Sprintf("%d of %d files have no %s, such as %s: name those that have one by include: %s",
		len(others), len(files), DefinitionKind, excerpt.Quoted(others[0]), excerpt.Quoted(pattern))}
	within := slices.DeleteFunc(slices.Clone(invalid.Violations), func(v violation.Violation) bool {
		_, beside := slices.BinarySearch(others, v.Path)
		return beside
	})
	return &violation.InvalidError{Violations: append([]violation.Violation{advice}, within...)}
}

// includeOf returns a pattern that matches all of own and none of others, empty without one.
func includeOf(own, others []string) string {
	if len(own) == 0 {
		return ""
	}
	dir, file := path.Split(own[0])
	inDir := "*" + path.Ext(file)
	for _, pattern := range []string{path.Join("**", path.Base(dir), inDir), path.Join("**", file), path.Join(dir, inDir)} {
		isFound := func(name string) bool { return doublestar.MatchUnvalidated(pattern, name) }
		if !slices.ContainsFunc(others, isFound) && !slices.ContainsFunc(own, func(name string) bool { return !isFound(name) }) {
			return pattern
		}
	}
	return ""
}
