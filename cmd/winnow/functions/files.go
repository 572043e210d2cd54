package functions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"
)

const (
	// maxFile bounds a kustomization or a file of configs, in bytes, and maxTotal all of them.
	maxFile  = 1 << 20
	maxTotal = 64 << 20
	// maxVisits bounds the directories that are entered, maxEntries the elements of their lists, and maxConfigs the
	// configs, each of which costs a few readings of its file.
	maxVisits  = 2000
	maxEntries = 100_000
	maxConfigs = 1000
)

// files are those below a root, by slash-separated paths, with edits that are not written yet.
type files struct {
	root    *os.Root
	content map[string][]byte
	edited  map[string][]byte
	total   int
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
	info, err := f.stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("is no regular file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("is larger than %d bytes", maxFile)
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	f.total += len(content)
	switch {
	case err != nil:
		return nil, err
	case len(content) > maxFile:
		return nil, fmt.Errorf("is larger than %d bytes", maxFile)
	case f.total > maxTotal:
		return nil, fmt.Errorf("is one file too many: all together have more than %d bytes", maxTotal)
	case !utf8.Valid(content):
		return nil, errors.New("must be UTF-8")
	}
	f.content[name] = content
	return content, nil
}
