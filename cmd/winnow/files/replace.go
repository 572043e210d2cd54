// SPDX-License-Identifier: Apache-2.0

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winnow-dev/winnow/render"
)

// WriteArchive writes the archive of the artifact to a file. On failure an existing file stays unchanged.
func WriteArchive(file string, result *render.Result) error {
	info, err := os.Lstat(file)
	switch {
	case err == nil && !info.Mode().IsRegular():
		// A rename would replace the link or the device itself.
		return fmt.Errorf("writing %s: not a regular file", file)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("writing the archive: %w", err)
	}
	if err := Replace(file, 0o644, func(f *os.File) error { return result.WriteArchive(f) }); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}

// Replace writes a file beside the named one, and renames it after write and every other step has succeeded.
func Replace(name string, mode fs.FileMode, write func(*os.File) error) error {
	temporary, err := os.CreateTemp(filepath.Dir(name), temporaryPattern)
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	if err := errors.Join(write(temporary), temporary.Chmod(mode), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}
