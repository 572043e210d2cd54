// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"archive/tar"
	"path"
	"strings"
)

// The names of entries that remove entries of lower layers, by the image specification.
const (
	whiteoutPrefix = ".wh."
	opaqueWhiteout = whiteoutPrefix + whiteoutPrefix + ".opq"
	metadataPrefix = whiteoutPrefix + whiteoutPrefix // of AUFS; no file of an image
)

// Limits of what an image may have below a directory, with the directories above its entries. Memory is proportional to
// them.
const (
	maxEntries    = 100_000
	maxEntryDepth = 32
	maxPathBytes  = 16 << 20
)

// mark describes what an entry of a layer hides in lower layers.
type mark uint8

const (
	// isDirectory hides what is no directory.
	isDirectory mark = 1 << iota
	// isOpaque hides what is in the directory.
	isOpaque
	// isOther, a file, a link or a whiteout, hides the path, and what is below it.
	isOther
)

// overlay finds the files of a directory in the layers of an image. The layers come from the highest to the lowest:
// so each file is known to be visible, or not, when it is read.
type overlay struct {
	directory string
	// upper are the marks of higher layers, and current the marks of this one, by path from the root of the image.
	upper, current map[string]mark
	entries, bytes int
}

func newOverlay(directory string) *overlay {
	return &overlay{directory: directory, upper: map[string]mark{}, current: map[string]mark{}}
}

// end ends a layer.
func (o *overlay) end() {
	for name, m := range o.current {
		o.upper[name] |= m
	}
	clear(o.current)
}

// add adds an entry of a layer. It returns the path in the directory of a regular file that is visible, "" for all else.
func (o *overlay) add(header *tar.Header) (string, error) {
	name, err := entryName(header.Name)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(path.Base(name), whiteoutPrefix) {
		return "", o.whiteout(name)
	}
	if !o.concerns(name) {
		return "", nil
	}
	if header.Typeflag == tar.TypeDir {
		return "", o.mark(name, isDirectory)
	}
	hidden := o.hides(name)
	if err := o.mark(name, isOther); err != nil || hidden {
		return "", err
	}
	below, inside := strings.CutPrefix(name, o.directory+"/")
	switch {
	case !isRegular(header):
		return "", refuse("%.256q is a link, a device or a sparse file, which is not allowed in the directory of a catalog", name)
	case !inside:
		return "", refuse("%.256q is a file, not a directory", name)
	}
	return below, nil
}

// entryName returns the clean path of an entry, as a string of its own: a part of the name would keep all of it in memory,
// up to a megabyte.
func entryName(name string) (string, error) {
	for element := range strings.SplitSeq(name, "/") {
		if element == ".." {
			return "", refuse("a layer has the path %.256q, which leads out of a directory", name)
		}
	}
	return strings.Clone(strings.TrimPrefix(path.Clean("/"+name), "/")), nil
}

// whiteout adds an entry that hides others of lower layers.
func (o *overlay) whiteout(name string) error {
	base := path.Base(name)
	target, m := path.Join(parent(name), strings.TrimPrefix(base, whiteoutPrefix)), isOther
	switch {
	case base == opaqueWhiteout:
		target, m = parent(name), isOpaque
	case strings.HasPrefix(base, metadataPrefix):
		return nil
	case base == whiteoutPrefix, base == whiteoutPrefix+".", base == whiteoutPrefix+"..":
		return refuse("a layer has the whiteout %.256q, which names no file", name)
	}
	if !o.concerns(target) {
		return nil
	}
	return o.mark(target, m)
}

// concerns reports whether a path is the directory, in it, or above it.
func (o *overlay) concerns(name string) bool {
	return name == "" || name == o.directory || strings.HasPrefix(name, o.directory+"/") || strings.HasPrefix(o.directory, name+"/")
}

// hides reports whether a higher layer hides what is no directory.
func (o *overlay) hides(name string) bool {
	if o.upper[name]&(isDirectory|isOther) != 0 {
		return true
	}
	for name != "" {
		name = parent(name)
		if o.upper[name]&(isOpaque|isOther) != 0 {
			return true
		}
	}
	return false
}

// mark adds the mark of a path, and the marks of the directories above it, which are entries as well.
func (o *overlay) mark(name string, m mark) error {
	if strings.Count(name, "/") >= maxEntryDepth {
		return refuse("the path %.256q has more than %d elements", name, maxEntryDepth)
	}
	o.entries++
	o.bytes += len(name)
	o.current[name] |= m
	for name != "" {
		name = parent(name)
		if o.current[name]&isDirectory != 0 {
			break // and so are those above it
		}
		o.entries++
		o.current[name] |= isDirectory
	}
	switch {
	case o.entries > maxEntries:
		return refuse("it has more than %d entries in the directory of the catalog", maxEntries)
	case o.bytes > maxPathBytes:
		return refuse("its paths in the directory of the catalog have more than %d bytes", maxPathBytes)
	}
	return nil
}

func parent(name string) string { return name[:max(strings.LastIndexByte(name, '/'), 0)] }

// isRegular reports whether an entry is a regular file whose bytes are all in the archive.
func isRegular(header *tar.Header) bool {
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return false
		}
	}
	return header.Typeflag == tar.TypeReg
}
