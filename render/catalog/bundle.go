// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"io/fs"

	"github.com/winnow-dev/winnow/render/catalog/violation"
)

// IsBundle reports whether a tree of files is a bundle of an operator, which is no catalog: opm tells them apart by the same
// directories.
func IsBundle(fsys fs.FS) bool {
	for _, name := range []string{"manifests", "metadata"} {
		if info, err := fs.Stat(fsys, name); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// errBundle is the error for a bundle in place of a catalog.
func errBundle() error {
	return &violation.InvalidError{Violations: []violation.Violation{{
		Rule: violation.RuleFormat, Path: ".", Message: "is a bundle of an operator (manifests and metadata), and no catalog: winnow import BUNDLE... -o CATALOG makes one of bundles",
	}}}
}
