package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/render"
)

// toStdout is the value of a flag that names standard output instead of a file or directory.
const toStdout = "-"

// checkPlace checks the value of a flag that takes a file or a directory: it must not be a word for a format, as the
// -o of other verbs takes.
func checkPlace(cmd *cobra.Command, flag, what, value string) error {
	switch {
	case value == toStdout:
		return fmt.Errorf("%s takes a %s, not standard output", flag, what)
	case slices.Contains(append(formats(), formatText), value):
		return fmt.Errorf("%s takes a %s; %s has no format %s (the %s of that name is ./%s)",
			flag, what, cmd.CommandPath(), value, what, value)
	}
	return nil
}

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
	if err := replaceFile(file, 0o644, func(f *os.File) error { return result.WriteArchive(f) }); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}

// replaceFile writes a file beside the named one, and renames it once write and all else has succeeded.
func replaceFile(name string, mode fs.FileMode, write func(*os.File) error) error {
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
