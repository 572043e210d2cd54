// SPDX-License-Identifier: Apache-2.0

package filebased

const (
	// MaxFile bounds a file in bytes: a catalog that is rendered into one file has 60 to 120 MB.
	MaxFile = 128 << 20
	// maxCatalog bounds all files together. All of it stays in memory.
	maxCatalog = 256 << 20
	// maxFiles bounds the files, those that are ignored included. A file for each of 7,000 bundles is normal.
	maxFiles = 20_000
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
