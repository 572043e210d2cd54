// SPDX-License-Identifier: Apache-2.0

package loading

import (
	"fmt"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/tree"
)

// fileBasedCompressed bounds the archive of a catalog of the format FileBased. One that was unpacked from an image is
// compressed in a hurry.
const fileBasedCompressed = 256 << 20

// LimitsOf returns the limits of reading the files of a catalog of a format, one of spec.sources[].format. The
// limits of Auto are high enough for every format.
func LimitsOf(format string) archive.Limits {
	limits := archive.DefaultLimits()
	switch format {
	case v1alpha1.FormatFileBased:
		limits.File, limits.Compressed = filebased.MaxFile, fileBasedCompressed
	case "", v1alpha1.FormatAuto:
		limits.File = filebased.MaxFile
	}
	return limits
}

// large is a file that is too large for all formats but FileBased.
type large struct{ path string }

// note notes a file of an archive.
func (l *large) note(path string, size int64) {
	if l.path == "" && size > archive.DefaultLimits().File {
		l.path = path
	}
}

// check returns an *archive.Error for a catalog of a format that must not have the file.
func (l *large) check(format catalog.Format) error {
	if l.path == "" || format.Name() == v1alpha1.FormatFileBased {
		return nil
	}
	return &archive.Error{
		Path: l.path, Limit: true, Reason: fmt.Sprintf("bytes of the file over the limit of %d", archive.DefaultLimits().File),
	}
}

// checkLarge is check for files of a format, nil if the content decides.
func checkLarge(files *tree.Tree, format catalog.Format) (err error) {
	var found large
	for _, path := range files.Paths() {
		content, _ := files.Content(path)
		found.note(path, int64(len(content)))
	}
	if found.path != "" && format == nil {
		if format, err = catalog.Detect(files.FS()); err != nil {
			return err
		}
	}
	return found.check(format)
}
