// SPDX-License-Identifier: Apache-2.0

package push

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// readDirectory reads all files of the directory that push was given.
func readDirectory(ctx context.Context, dir string, limits archive.Limits) (*tree.Tree, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no catalog at %s: want a directory", dir)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no directory: want a directory with a catalog", dir)
	}
	return input.ReadFiles(ctx, dir, input.Directory(dir), limits)
}

// inFiles describes the files of a catalog.
func inFiles(files *tree.Tree) string {
	return fmt.Sprintf(" in %s, %s", plaintext.Count(files.Len(), "file"), output.Size(files.Size()))
}
