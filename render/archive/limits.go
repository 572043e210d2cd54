// SPDX-License-Identifier: Apache-2.0

package archive

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
		Compressed: positive(l.Compressed, otherwise.Compressed),
		Total:      positive(l.Total, otherwise.Total),
		File:       positive(l.File, otherwise.File),
		Files:      positive(l.Files, otherwise.Files),
		PathLength: positive(l.PathLength, otherwise.PathLength),
		Paths:      positive(l.Paths, otherwise.Paths),
		Depth:      positive(l.Depth, otherwise.Depth),
	}
}

func positive[N int | int64](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}
