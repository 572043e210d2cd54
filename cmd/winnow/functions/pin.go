// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/krmfunctions"
)

// pin reads the digest of an image from its registry, and records the position in the catalog to write it to. If the
// catalog is no local file, only the runtime gets the digest.
func (r *resolver) pin(ctx context.Context, s *Source, f *krmfunctions.Function, c *krmfunctions.Container) error {
	digest, err := r.Digest(ctx, c.Image)
	if err != nil {
		return fmt.Errorf("asking for the digest of the image %s: %w", excerpt.Quoted(c.Image), err)
	}
	hash, ok := strings.CutPrefix(digest, "sha256:")
	if !ok {
		return fmt.Errorf("the image %s has the digest %s: only digests of sha256 are supported", excerpt.Quoted(c.Image), excerpt.Quoted(digest))
	}
	c.SHA256 = hash
	note := fmt.Sprintf("%s:%d: pinned %s to sha256:%s", s.Locate(f.Path), c.Line, c.Image, hash)
	if s.Dir == "" {
		r.Note("%s", note)
		return nil
	}
	file := filepath.Join(s.Dir, filepath.FromSlash(f.Path))
	for _, known := range r.pins[file] {
		if known.Line == c.Line && known.Column == c.Column { // behind an alias, or of the same catalog by another reference
			return nil
		}
	}
	r.pins[file] = append(r.pins[file], c)
	r.Note("%s", note)
	return nil
}
