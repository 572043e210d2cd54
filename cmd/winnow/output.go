package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winnow-dev/winnow/render"
)

// writeArchive writes the archive of the artifact to a file. On failure an existing file stays unchanged.
func writeArchive(file string, result *render.Result) error {
	info, err := os.Lstat(file)
	switch {
	case err == nil && !info.Mode().IsRegular():
		// A rename would replace the link or the device itself.
		return fmt.Errorf("writing %s: not a regular file", file)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("writing the archive: %w", err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), temporaryPattern)
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	defer os.Remove(temporary.Name())
	err = errors.Join(result.WriteArchive(temporary), temporary.Chmod(0o644), temporary.Close())
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return os.Rename(temporary.Name(), file)
}
