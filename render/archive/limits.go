package archive

// The limits for a zero field of Limits. They leave a catalog of 10,000
// applications of 7 KB each three times its size.
const (
	DefaultCompressed = 64 << 20
	DefaultTotal      = 256 << 20
	DefaultFile       = 8 << 20
	DefaultFiles      = 100_000
	DefaultPathLength = 1024
	DefaultPaths      = 16 << 20
	DefaultDepth      = 16
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

// DefaultLimits returns the limits that the zero value stands for.
func DefaultLimits() Limits {
	return Limits{}.withDefaults()
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Compressed: positive(l.Compressed, DefaultCompressed),
		Total:      positive(l.Total, DefaultTotal),
		File:       positive(l.File, DefaultFile),
		Files:      positive(l.Files, DefaultFiles),
		PathLength: positive(l.PathLength, DefaultPathLength),
		Paths:      positive(l.Paths, DefaultPaths),
		Depth:      positive(l.Depth, DefaultDepth),
	}
}

func positive[N int | int64](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}
