package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/tree"
)

// writeStream builds the tree with kustomize, as kustomize-controller does, and writes the
// objects as one YAML stream.
func writeStream(ctx context.Context, out io.Writer, files *tree.Tree) error {
	stream, err := await(ctx, func() ([]byte, error) { return render.Build(files) })
	if err != nil {
		return fmt.Errorf("building the artifact: %w", err)
	}
	_, err = out.Write(stream)
	return err
}

// writeArchive writes the artifact to a file, which is complete or as it was before.
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
