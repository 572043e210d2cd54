// SPDX-License-Identifier: Apache-2.0

// Package bounded reads files of catalogs, which are untrusted, and what programs print, within bounds, and compiles their regular
// expressions. It must not know what is in them.
package bounded

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

var (
	// ErrNotRegular is returned for what is no regular file.
	ErrNotRegular = errors.New("no regular file")
	// ErrTooLarge is returned for a file with more bytes than the limit.
	ErrTooLarge = errors.New("file over the limit")
)

// ReadFile returns the content of a regular file, which is not nil even if it is empty. Callers must not change it: the
// content of a file in memory is not copied. With ErrTooLarge it returns the first limit+1 bytes.
func ReadFile(fsys fs.FS, name string, limit int) (_ []byte, err error) {
	// Before opening: opening a named pipe of a local directory blocks.
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	opened, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	data, err := content(opened, info.Size(), limit)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(data) > limit {
		return data[:limit+1], ErrTooLarge
	}
	return data, nil
}

// content returns what an open file has, and at most a byte over the limit of what has to be read. The size is what the
// file may have.
func content(opened fs.File, size int64, limit int) ([]byte, error) {
	if held, ok := opened.(interface{ Content() []byte }); ok {
		if data := held.Content(); data != nil {
			return data, nil
		}
		return []byte{}, nil
	}
	buffer := bytes.NewBuffer(make([]byte, 0, min(max(size, 0), int64(limit))+bytes.MinRead))
	_, err := buffer.ReadFrom(io.LimitReader(opened, int64(limit)+1))
	return buffer.Bytes(), err
}

// Buffer keeps what is written up to a limit, and drops the rest.
type Buffer struct {
	Kept []byte
	Most int64
	// Exceed is called when the limit is exceeded; may be nil.
	Exceed func()
}

// Write is part of io.Writer. It never fails: Exceed may stop the writer.
func (b *Buffer) Write(p []byte) (int, error) {
	room := b.Most - int64(len(b.Kept))
	if int64(len(p)) > room && b.Exceed != nil {
		b.Exceed()
	}
	b.Kept = append(b.Kept, p[:min(int64(len(p)), room)]...)
	return len(p), nil
}
