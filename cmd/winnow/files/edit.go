// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// errLink reports a path that is no file, and that a rename would replace.
var errLink = errors.New("it is a link or no file: name the file itself")

// ReadForEdit returns the content and the mode of a regular file that may be written.
func ReadForEdit(name string) ([]byte, fs.FileMode, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: %w", name, errLink)
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0) // a rename would replace a file that may not be written
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	content, err := ReadBounded(name, file, MaxInputBytes)
	return content, info.Mode(), err
}

// Rewrite replaces the content of a file by a rename, and keeps its mode. It refuses a file that has changed since
// before was read.
func Rewrite(name string, before, after []byte, mode fs.FileMode) error {
	return Replace(name, mode.Perm(), func(f *os.File) error {
		_, err := f.Write(after)
		if err = errors.Join(err, f.Sync()); err != nil {
			return err
		}
		now, _, err := ReadForEdit(name)
		if err == nil && !bytes.Equal(now, before) {
			err = errors.New("it was changed at the same time: try again")
		}
		return err
	})
}
