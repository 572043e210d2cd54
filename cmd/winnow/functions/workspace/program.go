// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxProgram bounds a program, in bytes.
const maxProgram = 1 << 30

// Verify compares a program in the directory of a catalog with its hash. It returns the path of the program without
// symbolic links, or the reason why the program must not run.
func Verify(ctx context.Context, dir, name, hash string) (file, problem string, err error) {
	sum, problem, err := Inspect(ctx, dir, name)
	if problem != "" || err != nil {
		return "", problem, err
	}
	if sum != hash {
		shown := excerpt.Quoted(filepath.ToSlash(filepath.Join(dir, name)))
		return "", fmt.Sprintf("has the program %s, whose sha256 is %s, not %s as in the catalog", shown, sum, hash), nil
	}
	real, err := Absolute(dir)
	return filepath.Join(real, filepath.FromSlash(name)), "", err
}

// Inspect returns the hash of a program in a directory, or the reason why the program cannot run.
func Inspect(ctx context.Context, dir, name string) (sum, problem string, err error) {
	shown := excerpt.Quoted(filepath.ToSlash(filepath.Join(dir, name)))
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Sprintf("has the program %s, which does not exist", shown), nil
	case err != nil:
		return "", "", err
	}
	defer root.Close()
	within := NewFiles(root)
	info, err := within.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Sprintf("has the program %s, which does not exist", shown), nil
	case err != nil:
		return "", fmt.Sprintf("has the program %s: %v", shown, err), nil
	case !info.Mode().IsRegular():
		return "", fmt.Sprintf("has the program %s, which is no regular file", shown), nil
	case info.Size() > maxProgram:
		return "", fmt.Sprintf("has the program %s, which is larger than %d bytes", shown, maxProgram), nil
	case info.Mode()&0o111 == 0 && os.PathSeparator == '/':
		return "", fmt.Sprintf("has the program %s, which is not executable: chmod +x", shown), nil
	}
	if sum, err = hashOf(ctx, root, name); err != nil {
		return "", "", fmt.Errorf("reading %s: %w", shown, err)
	}
	return sum, "", nil
}

func hashOf(ctx context.Context, root *os.Root, name string) (string, error) {
	file, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum, left := sha256.New(), int64(maxProgram)
	for left > 0 {
		n, err := io.CopyN(sum, file, min(left, 1<<20))
		left -= n
		switch {
		case errors.Is(err, io.EOF):
			return hex.EncodeToString(sum.Sum(nil)), nil
		case err != nil:
			return "", err
		case ctx.Err() != nil:
			return "", ctx.Err()
		}
	}
	return "", fmt.Errorf("it is larger than %d bytes", maxProgram)
}
