package filebased

const (
	// MaxFile bounds a file in bytes: a catalog that is rendered into one file has 60 to 120 MB.
	MaxFile = 128 << 20
	// maxCatalog bounds all files together. All of it stays in memory.
	maxCatalog = 256 << 20
	// maxFiles bounds the files, those that are ignored included. A file for each of 7,000 bundles is normal.
	maxFiles = 20_000
	// maxDocuments bounds the documents of all files together.
	maxDocuments = 100_000
	// maxDocument bounds a document in bytes, with its aliases expanded. A bundle with all of its manifests has
	// to fit into an image's layer only: the largest known ones have 2 MB.
	maxDocument = 8 << 20
	// maxValues bounds the values of a document: in memory one takes a hundred times the two bytes that it may
	// take in the text.
	maxValues = 500_000
	// maxDepth bounds how deep values are nested.
	maxDepth = 100
	// maxEntries bounds the entries of a channel, and the channels and bundles of a package; maxAllEntries and
	// maxSkips bound the entries of all channels of a package, and the names that they skip. Pruning goes through
	// them once for each repair.
	maxEntries    = 5_000
	maxAllEntries = 20_000
	maxSkips      = 100_000
	// maxKept bounds the entries, skipped names, deprecations, APIs and dependencies that stay in memory, of all
	// documents together: one takes up to thirty times the three bytes that it may take in the text.
	maxKept = 1_000_000
	// maxVersion bounds a version in bytes: each part takes sixteen times its bytes.
	maxVersion = 1_000
	// maxRange bounds a skipRange in bytes: it is parsed for each bundle of which a successor is looked for.
	maxRange = 1_000
	// maxIgnoreFile bounds an .indexignore in bytes, and maxPatterns the patterns of all of them: each file is
	// compared with each pattern.
	maxIgnoreFile = 64 << 10
	maxPatterns   = 5_000
	// maxViolations are kept of a catalog, and maxFileViolations of one of its files.
	maxViolations     = 1_000
	maxFileViolations = 100
	// maxListed problems of a pruning are part of an error's text, and maxNames names of a list in a message.
	maxListed = 20
	maxNames  = 5
)
