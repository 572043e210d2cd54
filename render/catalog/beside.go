// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"io/fs"
	"path"
	"slices"

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
	for _, general := range []func(string) string{
		func(name string) string { return path.Join("**", path.Base(path.Dir(name)), "*"+path.Ext(name)) },
		func(name string) string { return path.Join("**", path.Base(name)) },
	} {
		found := map[string]bool{}
		for _, name := range own {
			found[general(name)] = true
		}
		isFound := func(name string) bool { return found[general(name)] }
		if len(found) == 1 && !slices.ContainsFunc(others, isFound) {
			return general(own[0])
		}
	}
	return ""
}
