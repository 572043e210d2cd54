// SPDX-License-Identifier: Apache-2.0

package metadata

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// LockedKey is the key, of an application and of a version, that lists values which must not change once an instance was
// published.
const LockedKey = "lockedValues"

const (
	// maxLocked bounds the locked values of an application, and of a version.
	maxLocked = 64
	// maxValuePath bounds a path in bytes.
	maxValuePath = 250
)

// ValuePath is the path of a value: the names of members, from the top.
type ValuePath []string

// ParseValuePath reads names with dots between them. \. is a dot in a name, as in Helm.
func ParseValuePath(text string) (ValuePath, error) {
	var path ValuePath
	var name strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] == '.':
			name.WriteByte('.')
			i++
		case c == '.':
			path = append(path, name.String())
			name.Reset()
		case c == '[' || c == ']':
			return nil, errors.New("has brackets: a list is locked as a whole, so name the list")
		case c == '\\':
			return nil, errors.New("has a backslash that is before no dot")
		default:
			name.WriteByte(c)
		}
	}
	path = append(path, name.String())
	switch {
	case len(text) > maxValuePath:
		return nil, fmt.Errorf("is longer than %d bytes", maxValuePath)
	case slices.Contains(path, ""):
		return nil, errors.New("is not a path of names with dots between them")
	}
	return path, nil
}

// String returns the path as ParseValuePath reads it.
func (p ValuePath) String() string {
	names := each.Map(p, func(name string) string { return strings.ReplaceAll(name, ".", `\.`) })
	return strings.Join(names, ".")
}

func parseLocked(member yamlnode.Entry, found *violation.Findings) []string {
	return parseTexts(member, maxLocked, func(path string) string {
		if _, err := ParseValuePath(path); err != nil {
			return fmt.Sprintf(": %s %s", excerpt.Quoted(path), err)
		}
		return ""
	}, found)
}
