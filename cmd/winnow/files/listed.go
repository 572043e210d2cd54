// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/tree"
)

// maxList bounds the list of an earlier output, in bytes.
const maxList = 64 << 20

// WriteListed writes the files of the tree to dir, and the file list, which names them. It replaces the files that the list of
// an earlier output names, and leaves others at the top of dir alone. It returns an error if one of these has a name that
// the tree needs, or if a directory to replace has a file that no list names. Until the new files are complete, the
// earlier output stays, and if they cannot be moved to their place, it is put back.
func WriteListed(dir, list string, files *tree.Tree) error {
	earlier, err := readList(dir, list)
	if err != nil {
		return err
	}
	if err := checkListed(dir, list, earlier, topsOf(files.Paths())); err != nil {
		return err
	}
	// An interrupted run leaves files of both outputs: the next one replaces them.
	either := slices.Concat(earlier, files.Paths())
	slices.Sort(either)
	either = slices.Compact(either)
	return Stage(dir, files.FS(), func(fresh, old string) error {
		if err := writeList(dir, list, either); err != nil {
			return err
		}
		if err := exchange(dir, fresh, old, topsOf(either)); err != nil {
			return err
		}
		return writeList(dir, list, files.Paths())
	})
}

// topsOf returns the first names of paths, each once.
func topsOf(paths []string) (tops []string) {
	for _, name := range paths {
		top, _, _ := strings.Cut(name, "/")
		tops = append(tops, top)
	}
	slices.Sort(tops)
	return slices.Compact(tops)
}

func writeList(dir, list string, paths []string) error {
	return Replace(filepath.Join(dir, list), 0o644, func(f *os.File) error {
		_, err := f.WriteString(strings.Join(paths, "\n") + "\n")
		return err
	})
}

// readList returns the paths of an earlier output; none if there is no list.
func readList(dir, list string) ([]string, error) {
	name := filepath.Join(dir, list)
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the output directory: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxList:
		return nil, fmt.Errorf("%s is no list of an earlier output: choose another directory", name)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var paths []string
	for line := range bytes.Lines(content) {
		listed := string(bytes.TrimSuffix(line, []byte("\n")))
		if tree.CheckPath(listed) != nil || listed == list {
			return nil, fmt.Errorf("%s is no list of an earlier output: choose another directory", name)
		}
		paths = append(paths, listed)
	}
	return paths, nil
}

// checkListed returns an error if dir has something in the place of a file to write, or to replace, that no earlier output
// wrote.
func checkListed(dir, list string, earlier, needed []string) error {
	known := map[string]bool{list: true}
	for _, file := range earlier {
		for ; file != "."; file = path.Dir(file) {
			known[file] = true
		}
	}
	for _, top := range slices.Concat(topsOf(earlier), needed) {
		err := fs.WalkDir(os.DirFS(dir), top, func(name string, _ fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return fmt.Errorf("reading the output directory: %w", err)
			case !known[name]:
				return fmt.Errorf("%s holds %s, which no earlier output has: choose another directory", dir, name)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
