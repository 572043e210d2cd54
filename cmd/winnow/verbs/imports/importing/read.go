// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Bounds of the input. The largest indexes of Helm repositories have some ten megabytes.
const (
	maxFiles     = 10_000
	maxEntries   = 100_000
	maxDepth     = 15 // of directories
	maxFileBytes = 32 << 20
	maxBytes     = 128 << 20
)

// Reader reads files within bounds.
type Reader struct{ files, entries, bytes int }

// errLarge reports that a file exceeds maxFileBytes.
var errLarge = fmt.Errorf("it is larger than %d bytes", maxFileBytes)

// Read reads a file. Its error does not name it.
func (r *Reader) Read(file io.Reader) ([]byte, error) {
	if r.files++; r.files > maxFiles {
		return nil, fmt.Errorf("more than %d files", maxFiles)
	}
	content, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxFileBytes {
		return nil, errLarge
	}
	if r.bytes += len(content); r.bytes > maxBytes {
		return nil, fmt.Errorf("more than %d bytes in all files: import them in parts", maxBytes)
	}
	return content, nil
}

// AddDirectory takes the applications of the YAML and JSON files below fsys, which is the directory dir. It leaves out
// hidden files and directories, and follows no symbolic links. The error is one of bounds, of fsys or of the context.
func (i *Importer) AddDirectory(ctx context.Context, r *Reader, dir string, fsys fs.FS) error {
	before := r.files
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if r.entries++; r.entries > maxEntries {
			return fmt.Errorf("more than %d files and directories", maxEntries)
		}
		place := path.Join(dir, name)
		switch {
		case err != nil:
			return fmt.Errorf("reading %s: %w", place, err)
		case ctx.Err() != nil:
			return ctx.Err()
		case name == ".":
			return nil
		case strings.HasPrefix(entry.Name(), "."):
			return skipped(entry)
		}
		if reason := refusal(fsys, name, entry); reason != "" {
			i.refuse(place, reason)
			return skipped(entry)
		}
		if entry.IsDir() || !yamlnode.IsYAMLOrJSON(name) {
			return nil
		}
		return i.addFile(ctx, r, place, fsys, name)
	})
	if err == nil && r.files == before {
		i.refuse(dir, "it has no *.yaml, *.yml or *.json file")
	}
	return err
}

// refusal returns why a file or directory that may have definitions is not read, empty if it is.
func refusal(fsys fs.FS, name string, entry fs.DirEntry) string {
	switch {
	case entry.IsDir() && strings.Count(name, "/") >= maxDepth:
		return fmt.Sprintf("the directory is deeper than %d levels", maxDepth)
	case entry.Type()&fs.ModeSymlink != 0 && (yamlnode.IsYAMLOrJSON(name) || mayBeDirectory(fsys, name)):
		return "it is a symbolic link, which is not followed"
	case yamlnode.IsYAMLOrJSON(name) && !entry.IsDir() && !entry.Type().IsRegular():
		return "it is no regular file"
	}
	return ""
}

// skipped leaves a directory out, with all that is below it.
func skipped(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// mayBeDirectory reports whether a link leads to a directory, or out of fsys.
func mayBeDirectory(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err != nil || info.IsDir()
}

func (i *Importer) addFile(ctx context.Context, r *Reader, place string, fsys fs.FS, name string) error {
	file, err := fsys.Open(name)
	if err != nil {
		return fmt.Errorf("reading %s: %w", place, err)
	}
	defer file.Close()
	content, err := r.Read(file)
	switch {
	case errors.Is(err, errLarge):
		i.refuse(place, err.Error())
		return nil
	case err != nil:
		return fmt.Errorf("reading %s: %w", place, err)
	}
	return i.Add(ctx, place, content)
}
