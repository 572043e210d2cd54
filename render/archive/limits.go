// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"cmp"
	"fmt"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Limits bound what reading an archive may cost. What is exactly at a limit
// passes. A field that is not positive means its default.
type Limits struct {
	// Compressed is the bytes of the tar.gz; a directory has none.
	Compressed int64
	// Total is the bytes of the uncompressed tar stream with its headers and
	// padding. Of a directory it is what its files would take in one.
	Total int64
	// File is the bytes of one file.
	File int64
	// Files is the number of entries, including directories and whatever is
	// skipped.
	Files int
	// PathLength is the bytes of a path; more than tree.MaxPathLength is
	// refused in any case.
	PathLength int
	// Paths is the bytes of all paths together.
	Paths int64
	// Depth is the number of elements of a path: "a/b" has two.
	Depth int
}

// DefaultLimits returns the limits that the zero value stands for. They leave a catalog of 10,000
// applications of 7 KB each three times its size.
func DefaultLimits() Limits {
	return Limits{
		Compressed: 64 << 20,
		Total:      256 << 20,
		File:       8 << 20,
		Files:      100_000,
		PathLength: 1024,
		Paths:      16 << 20,
		Depth:      16,
	}
}

func (l Limits) withDefaults() Limits {
	otherwise := DefaultLimits()
	return Limits{
		Compressed: cmp.Or(max(l.Compressed, 0), otherwise.Compressed),
		Total:      cmp.Or(max(l.Total, 0), otherwise.Total),
		File:       cmp.Or(max(l.File, 0), otherwise.File),
		Files:      cmp.Or(max(l.Files, 0), otherwise.Files),
		PathLength: cmp.Or(max(l.PathLength, 0), otherwise.PathLength),
		Paths:      cmp.Or(max(l.Paths, 0), otherwise.Paths),
		Depth:      cmp.Or(max(l.Depth, 0), otherwise.Depth),
	}
}

// Error is returned for hostile or malformed content, and for content over a
// limit. It is permanent: reading the same bytes fails again. Other errors of
// Read and ReadFS come from the reader or the context and may be retried.
type Error struct {
	// Path is the entry's name as in the archive, empty for an error of the
	// archive as a whole.
	Path string
	// Reason is a short phrase without the path.
	Reason string
	// Limit is true if a limit is exceeded, which other Limits may allow.
	Limit bool
	// Err is the cause where there is one, a *tree.PathError for instance;
	// Reason has its text.
	Err error
}

// Error returns for instance `archive entry "a/b": symbolic link is not
// allowed`. A long path is shortened: the text may end up in a status.
func (e *Error) Error() string {
	if e.Path == "" {
		return "archive: " + e.Reason
	}
	return fmt.Sprintf("archive entry %s: %s", excerpt.QuotedTo(e.Path, 200), e.Reason)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error {
	return e.Err
}

func refuse(path, reason string) *Error {
	return &Error{Path: path, Reason: reason}
}

func exceed(path, what string, limit int64) *Error {
	return &Error{Path: path, Reason: fmt.Sprintf("%s over the limit of %d", what, limit), Limit: true}
}
