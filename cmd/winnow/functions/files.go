package functions

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

// maxFile bounds a kustomization or a file of configs, in bytes, and maxTotal all of them.
const (
	maxFile  = 1 << 20
	maxTotal = 64 << 20
)

// files are those below a root, by slash-separated paths, with edits that are not written yet.
type files struct {
	root    *os.Root
	content map[string][]byte
	edited  map[string][]byte
	total   int
}

func newFiles(root *os.Root) *files {
	return &files{root: root, content: map[string][]byte{}, edited: map[string][]byte{}}
}

// errOutside is returned for a path that leads out of the root.
var errOutside = errors.New("leads out of the directory: pass --root with a directory that holds it as well")

// join returns the path of an entry of a kustomization.
func join(dir, entry string) (string, error) {
	joined := path.Join(dir, entry)
	if path.IsAbs(entry) || joined == ".." || strings.HasPrefix(joined, "../") {
		return "", errOutside
	}
	if !fs.ValidPath(joined) {
		return "", errors.New("is no path of a file")
	}
	return joined, nil
}

// stat returns what is at a path. It refuses symbolic links: kustomize resolves them, so that ../ would lead elsewhere.
func (f *files) stat(name string) (fs.FileInfo, error) {
	for i, r := range name {
		if r != '/' {
			continue
		}
		if info, err := f.root.Lstat(name[:i]); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return nil, linkError(name[:i], err)
		}
	}
	info, err := f.root.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return nil, linkError(name, err)
	}
	return info, nil
}

func linkError(name string, err error) error {
	if err == nil {
		err = fmt.Errorf("leads through the symbolic link %s, which is not followed: name what it leads to", name)
	}
	return err
}

// read returns the content of a regular file, with its edits.
func (f *files) read(name string) ([]byte, error) {
	if edited, ok := f.edited[name]; ok {
		return edited, nil
	}
	if content, ok := f.content[name]; ok {
		return content, nil
	}
	if _, err := f.stat(name); err != nil {
		return nil, err
	}
	content, err := bounded.ReadFile(f.root.FS(), name, maxFile)
	switch {
	case errors.Is(err, bounded.ErrNotRegular):
		return nil, errors.New("is no regular file")
	case errors.Is(err, bounded.ErrTooLarge):
		return nil, fmt.Errorf("is larger than %d bytes", maxFile)
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

// absolute returns the path of a directory, which need not exist, without symbolic links.
func absolute(dir string) (string, error) {
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
