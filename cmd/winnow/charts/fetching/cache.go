// SPDX-License-Identifier: Apache-2.0

package fetching

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/render/bounded"
)

// MaxCache bounds the bytes of a cache.
const MaxCache = 512 << 20

// Cache keeps archives in a directory, by their digests. Several processes may use the same one. The zero value keeps nothing.
type Cache struct {
	// Directory of the archives, which is made if it is missing. Other files in it stay.
	Directory string
	// Most is the most bytes of all archives; zero is MaxCache. What was not used for longest is removed.
	Most int64
}

// UserCache returns the cache of the user; the zero value where the system names no directory for it.
func UserCache() Cache {
	directory, err := os.UserCacheDir()
	if err != nil {
		return Cache{}
	}
	return Cache{Directory: filepath.Join(directory, "winnow", "charts")}
}

// suffix of the names of archives.
const suffix = ".tgz"

// get returns the archive with a digest; nil if there is none, or if its content is another one.
func (c Cache) get(sum digest.Digest) []byte {
	if c.Directory == "" || sum.Validate() != nil {
		return nil
	}
	root, err := os.OpenRoot(c.Directory)
	if err != nil {
		return nil
	}
	defer root.Close()
	content, err := bounded.ReadFile(root.FS(), nameOf(sum), rendering.MaxArchive)
	if err != nil || sum.Algorithm().FromBytes(content) != sum {
		return nil
	}
	now := time.Now()
	_ = root.Chtimes(nameOf(sum), now, now) // a cache that cannot be written still serves
	return content
}

// put keeps an archive, if the file system lets it: what cannot be kept is fetched again.
func (c Cache) put(content []byte) {
	if c.Directory == "" || os.MkdirAll(c.Directory, 0o700) != nil {
		return
	}
	name := filepath.Join(c.Directory, nameOf(digest.FromBytes(content)))
	_ = files.Replace(name, 0o600, func(f *os.File) error { _, err := f.Write(content); return err })
	c.shrink()
}

// shrink removes the archives that were not used for longest, until the rest is within the bound.
func (c Cache) shrink() {
	entries, err := os.ReadDir(c.Directory)
	if err != nil {
		return
	}
	var archives []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(entry.Name(), suffix) {
			archives = append(archives, info)
		}
	}
	slices.SortFunc(archives, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	left := cmp.Or(c.Most, MaxCache)
	for _, info := range archives {
		if left -= info.Size(); left < 0 {
			_ = os.Remove(filepath.Join(c.Directory, info.Name())) // another process may have removed it
		}
	}
}

func nameOf(sum digest.Digest) string { return sum.Algorithm().String() + "-" + sum.Encoded() + suffix }
