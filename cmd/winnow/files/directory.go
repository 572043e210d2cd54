// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/contents"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/seal"
	"github.com/winnow-dev/winnow/render/tree"
)

// WriteDirectory writes the files of the tree to dir. It replaces an earlier output and returns an
// error if dir contains other files. The earlier output stays until the new files are complete,
// and is put back if they cannot be moved to their place.
// It does not replace the directory itself, which may be a mount, a link or the working directory of
// a shell.
func WriteDirectory(dir string, files *tree.Tree) error {
	if err := checkReplaceable(dir); err != nil {
		return err
	}
	return Stage(dir, files.FS(), func(fresh, old string) error {
		return exchange(dir, fresh, old, render.Entries())
	})
}

// WriteEmptyDirectory writes the files of the tree to dir, which must be empty or missing. No file
// appears in it before all are complete.
func WriteEmptyDirectory(dir string, files *tree.Tree) error {
	if err := CheckEmpty(dir); err != nil {
		return err
	}
	return Stage(dir, files.FS(), func(fresh, _ string) error { return MoveEntries(fresh, dir) })
}

// MoveEntries moves all entries of fresh to dir, which has none of their names. On failure it removes what it has moved.
func MoveEntries(fresh, dir string) error {
	entries, err := os.ReadDir(fresh)
	if err != nil {
		return err
	}
	for i, entry := range entries {
		if err := os.Rename(filepath.Join(fresh, entry.Name()), filepath.Join(dir, entry.Name())); err != nil {
			for _, moved := range entries[:i] {
				err = errors.Join(err, os.RemoveAll(filepath.Join(dir, moved.Name())))
			}
			return err
		}
	}
	return nil
}

// temporaryPattern names files and directories that are renamed or removed once they are complete.
const temporaryPattern = ".winnow-*"

// CheckEmpty returns an error unless dir is an empty directory or does not exist.
func CheckEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("reading the output directory: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty, it holds %s: choose another directory", dir, entries[0].Name())
	}
	return nil
}

// Stage writes the files to fresh, a temporary directory in dir, and calls move to move them to their
// place. move may create the directory old for replaced files. Stage removes both at the end.
func Stage(dir string, files fs.FS, move func(fresh, old string) error) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the output directory: %w", err)
	}
	work, err := os.MkdirTemp(dir, temporaryPattern)
	if err != nil {
		return fmt.Errorf("making a temporary directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	fresh, old := filepath.Join(work, "new"), filepath.Join(work, "old")
	if err := os.CopyFS(fresh, files); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	return move(fresh, old)
}

// exchange moves the entries of dir to old, a directory that it makes, and the entries of fresh to dir, as far as they exist.
// On failure it moves them back.
func exchange(dir, fresh, old string, names []string) (err error) {
	if err := os.Mkdir(old, 0o755); err != nil {
		return err
	}
	var done [][2]string
	defer func() {
		for i := len(done) - 1; err != nil && i >= 0; i-- {
			err = errors.Join(err, os.Rename(done[i][1], done[i][0]))
		}
	}()
	for _, name := range names {
		for _, move := range [][2]string{{filepath.Join(dir, name), filepath.Join(old, name)}, {filepath.Join(fresh, name), filepath.Join(dir, name)}} {
			switch failure := os.Rename(move[0], move[1]); {
			case failure == nil:
				done = append(done, move)
			case !errors.Is(failure, fs.ErrNotExist):
				return failure
			}
		}
	}
	return nil
}

// checkReplaceable returns an error if dir contains a file that no earlier render wrote.
func checkReplaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the output directory: %w", err)
	}
	written, err := writtenFiles(dir)
	if err != nil {
		return err
	}
	return fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && (path == "." || path == render.ApplicationsDir || written[path]) {
			return err
		}
		if !written[path] {
			return fmt.Errorf("%s holds %s, which no earlier render wrote: choose another directory", dir, path)
		}
		return nil
	})
}

// writtenFiles returns the files of an earlier output in dir: the files that its kustomization.yaml names, the contents in
// their places, which it does not name, and the directories of both. It is empty if kustomization.yaml is missing or render
// did not write it.
func writtenFiles(dir string) (map[string]bool, error) {
	content, err := os.ReadFile(filepath.Join(dir, render.KustomizationFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var kustomization struct {
		Resources []string
		Labels    []struct{ Pairs map[string]string }
	}
	if err := dialect.Unmarshal(content, &kustomization); err != nil {
		return nil, nil // render writes valid YAML, so it did not write this
	}
	written := map[string]bool{}
	for _, labels := range kustomization.Labels {
		if labels.Pairs[v1alpha1.ManagedByLabel] != v1alpha1.ManagedByValue {
			continue
		}
		written[render.KustomizationFile] = true
		held, err := contents.FilesIn(context.Background(), os.DirFS(dir))
		if err != nil {
			return nil, err
		}
		files := slices.DeleteFunc(slices.Concat(kustomization.Resources, held), func(file string) bool { return tree.CheckPath(file) != nil })
		for file, content := range seal.Of(files) {
			was, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
			written[file] = err == nil && string(was) == content
		}
		for _, file := range files {
			written[file] = true
			for parent := path.Dir(file); parent != "."; parent = path.Dir(parent) {
				written[parent] = true
			}
		}
	}
	return written, nil
}
