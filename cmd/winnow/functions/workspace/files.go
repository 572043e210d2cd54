// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/winnow-dev/winnow/render/bounded"
)

// MaxFile bounds a kustomization or a file of configs, in bytes, and maxTotal all of them.
const (
	MaxFile  = 1 << 20
	maxTotal = 64 << 20
)

// Files are below a root, by slash-separated paths, with edits that are not written yet.
type Files struct {
	root    *os.Root
	content map[string][]byte
	Edited  map[string][]byte
	total   int
}

// NewFiles returns the files below a root, which its caller closes.
func NewFiles(root *os.Root) *Files {
	return &Files{root: root, content: map[string][]byte{}, Edited: map[string][]byte{}}
}

// Join returns the path of an entry of a kustomization.
func Join(dir, entry string) (string, error) {
	joined := path.Join(dir, entry)
	if path.IsAbs(entry) || joined == ".." || strings.HasPrefix(joined, "../") {
		return "", errors.New("leads out of the directory: pass --root with a directory that holds it as well")
	}
	if !fs.ValidPath(joined) {
		return "", errors.New("is no path of a file")
	}
	return joined, nil
}

// Stat returns what is at a path. It refuses symbolic links: kustomize resolves them, so that ../ would lead elsewhere.
func (f *Files) Stat(name string) (info fs.FileInfo, err error) {
	for i, r := range name + "/" { // each directory above it, and itself
		if r != '/' {
			continue
		}
		info, err = f.root.Lstat(name[:i])
		switch {
		case err != nil:
			return nil, err
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, fmt.Errorf("leads through the symbolic link %s, which is not followed: name what it leads to", name[:i])
		}
	}
	return info, nil
}

// Read returns the content of a regular file, with its edits.
func (f *Files) Read(name string) ([]byte, error) {
	if edited, ok := f.Edited[name]; ok {
		return edited, nil
	}
	if content, ok := f.content[name]; ok {
		return content, nil
	}
	if _, err := f.Stat(name); err != nil {
		return nil, err
	}
	content, err := bounded.ReadFile(f.root.FS(), name, MaxFile)
	switch {
	case errors.Is(err, bounded.ErrNotRegular):
		return nil, errors.New("is no regular file")
	case errors.Is(err, bounded.ErrTooLarge):
		return nil, fmt.Errorf("is larger than %d bytes", MaxFile)
	case err != nil:
		return nil, err
	}
	switch f.total += len(content); {
	case f.total > maxTotal:
		return nil, fmt.Errorf("is one file too many: all together have more than %d bytes", maxTotal)
	case !utf8.Valid(content):
		return nil, errors.New("must be UTF-8")
	}
	f.content[name] = content
	return content, nil
}

// Absolute returns the path of a directory, which need not exist, without symbolic links.
func Absolute(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	rest := ""
	for at := dir; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest), nil
		}
		if at == filepath.Dir(at) {
			return dir, nil
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
