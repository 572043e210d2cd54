// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"crypto/sha256"
	"encoding/hex"
)

// Digest returns the digest of the tree's content, "sha256:<hex>": the SHA-256
// of one line "<sha256 hex of the file>  <path>\n" for each file, sorted by
// path. It depends on paths and bytes alone, not on modes, times, the order of
// Add or a compression. An unpacked artifact shows the same with
//
//	find . -type f | sed 's,^\./,,' | LC_ALL=C sort |
//	    xargs -r -d '\n' sha256sum -- | sha256sum
func (t *Tree) Digest() string {
	lines := sha256.New()
	var line []byte
	for _, path := range t.Paths() {
		sum := sha256.Sum256(t.files[path])
		line = hex.AppendEncode(line[:0], sum[:])
		line = append(line, "  "...)
		line = append(line, path...)
		line = append(line, '\n')
		lines.Write(line)
	}
	return "sha256:" + hex.EncodeToString(lines.Sum(nil))
}
