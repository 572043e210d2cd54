// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Edit is another content for a file.
type Edit struct {
	Name          string
	Before, After []byte
	// Lines are printed once it is written.
	Lines []string

	mode fs.FileMode
}

// OpenEdit reads a regular file that may be written.
func OpenEdit(name string) (*Edit, error) {
	content, mode, err := readForEdit(name)
	return &Edit{Name: name, Before: content, After: content, mode: mode}, err
}

// IsChanged reports whether there is another content.
func (e *Edit) IsChanged() bool { return !bytes.Equal(e.Before, e.After) }

// Save writes files by renames, with their modes, and calls print for the lines of each. It refuses a file that has changed since it was read.
func Save(ctx context.Context, print func(line string), edits ...*Edit) error {
	for _, e := range edits {
		err := ctx.Err()
		if err == nil && e.IsChanged() {
			err = e.replace()
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w", e.Name, err)
		}
		for _, line := range e.Lines {
			print(line)
		}
	}
	return nil
}

func (e *Edit) replace() error {
	return Replace(e.Name, e.mode.Perm(), func(f *os.File) error {
		_, err := f.Write(e.After)
		if err = errors.Join(err, f.Sync()); err != nil {
			return err
		}
		now, _, err := readForEdit(e.Name)
		if err == nil && !bytes.Equal(now, e.Before) {
			err = errors.New("it was changed at the same time: try again")
		}
		return err
	})
}

func readForEdit(name string) ([]byte, fs.FileMode, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: it is a link or no file: name the file itself", name)
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0) // a rename would replace a file that may not be written
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	content, err := ReadBounded(name, file, MaxInputBytes)
	return content, info.Mode(), err
}
