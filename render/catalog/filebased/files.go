package filebased

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// Paths returns the files of the catalog at the root of fsys, without those that an ignore file names. The error is that
// of Load.
func Paths(ctx context.Context, fsys fs.FS) ([]string, error) {
	var found report
	files, err := paths(ctx, fsys, &found)
	if err != nil {
		return nil, fmt.Errorf("listing the files of the catalog: %w", err)
	}
	return files, found.err()
}

// paths returns the files of the catalog, sorted by directory and name.
func paths(ctx context.Context, fsys fs.FS, found *report) ([]string, error) {
	var all []string
	var ignore ignored
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case entry.IsDir():
			return nil
		case path.Base(name) == IgnoreFile:
			return ignore.read(fsys, name, found)
		}
		if all = append(all, name); len(all) > maxFiles {
			found.file(".", "has more than %d files", maxFiles)
			return fs.SkipAll
		}
		return nil
	})
	kept := all[:0]
	for _, name := range all {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !ignore.match(name) {
			kept = append(kept, name)
		}
	}
	return kept, err
}

// readFile returns the bytes of a regular file, nil when found says why there are none.
func readFile(fsys fs.FS, name string, limit int, found *report) (_ []byte, err error) {
	// Before opening: opening a named pipe of a local directory blocks.
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		found.file(name, "must be a regular file, or match a pattern in %s", IgnoreFile)
		return nil, nil
	}
	opened, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	data, err := content(opened, min(max(info.Size(), 0), int64(limit)), limit)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(data) > limit {
		found.file(name, "is larger than %d bytes", limit)
		return nil, nil
	}
	return data, nil
}

// content returns what an open file has, and at most a byte over the limit. What a file in memory has is not
// copied.
func content(opened fs.File, size int64, limit int) ([]byte, error) {
	if held, ok := opened.(interface{ Content() []byte }); ok {
		return held.Content(), nil
	}
	buffer := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := buffer.ReadFrom(io.LimitReader(opened, int64(limit)+1))
	return buffer.Bytes(), err
}
