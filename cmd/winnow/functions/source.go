// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/spelling"
)

// maxNamed versions or platforms are part of a message.
const maxNamed = 10

// Source is an opened catalog.
type Source struct {
	*krmfunctions.Catalog

	// Reference is the catalog's name in messages.
	Reference string
	// Dir is the directory that the paths in the catalog are relative to; empty for an archive and a registry, whose
	// files have no place on this machine, and for a file on a web server.
	Dir string
	// IsFile reports whether Reference is the address of a file on a web server.
	IsFile bool
}

// Locate returns a path of the catalog for messages.
func (s *Source) Locate(name string) string {
	if s.IsFile {
		return s.Reference
	}
	if s.Dir != "" {
		return filepath.ToSlash(filepath.Join(s.Dir, name))
	}
	return s.Reference + "/" + name
}

// similar returns the functions of the catalog with almost the group and kind of a config, and their places.
func (s *Source) similar(c *configs.Config) (names []string) {
	for _, f := range s.Functions {
		isKind, isGroup := strings.EqualFold(f.Kind, c.Kind), f.Group == c.Group
		if isKind || isGroup && len(spelling.Nearest(c.Kind, []string{f.Kind})) > 0 {
			names = append(names, fmt.Sprintf("%s of %s (%s:%d)", f.Kind, f.Group, s.Locate(f.Path), f.Line))
		}
	}
	return names
}
