package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/tree"
)

// temporaryPattern names what is being written and is renamed or removed in the end.
const temporaryPattern = ".winnow-*"

// writeDirectory makes dir hold the files of the tree and nothing else. It replaces an earlier
// output and refuses a directory that holds anything else. What was there stays until the new
// files are complete. The directory itself is never replaced: it may be a mount, a link, or
// where a user's shell is.
func writeDirectory(dir string, files *tree.Tree) error {
	if err := checkReplaceable(dir); err != nil {
		return err
	}
	return stage(dir, files, func(fresh, old string) error {
		if err := os.Mkdir(old, 0o755); err != nil {
			return err
		}
		for _, entry := range []string{render.ApplicationsDir, render.KustomizationFile} {
			if err := replace(filepath.Join(dir, entry), filepath.Join(fresh, entry), filepath.Join(old, entry)); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeEmptyDirectory makes dir hold the files of the tree. It refuses a directory that holds
// anything. Nothing is there until all files are complete.
func writeEmptyDirectory(dir string, files *tree.Tree) error {
	if err := checkEmpty(dir); err != nil {
		return err
	}
	return stage(dir, files, func(fresh, _ string) error {
		entries, err := os.ReadDir(fresh)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if err := os.Rename(filepath.Join(fresh, entry.Name()), filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkEmpty refuses a directory that holds anything, and what is no directory.
func checkEmpty(dir string) error {
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

// stage writes the files beside the contents of dir and has them moved there from the directory
// fresh. old may be made, for what goes. Both are gone in the end.
func stage(dir string, files *tree.Tree, move func(fresh, old string) error) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the output directory: %w", err)
	}
	work, err := os.MkdirTemp(dir, temporaryPattern)
	if err != nil {
		return fmt.Errorf("making a temporary directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	fresh, old := filepath.Join(work, "new"), filepath.Join(work, "old")
	if err := os.CopyFS(fresh, files.FS()); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	return move(fresh, old)
}

// replace moves what is at path, if anything, to old, and fresh to path.
func replace(path, fresh, old string) error {
	if err := os.Rename(path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(fresh, path)
}

// checkReplaceable refuses a directory with a file that an earlier render did not write.
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
		if err != nil || entry.IsDir() && (path == "." || path == render.ApplicationsDir) {
			return err
		}
		if !written[path] {
			return fmt.Errorf("%s holds %s, which no earlier render wrote: choose another directory", dir, path)
		}
		return nil
	})
}

// writtenFiles returns the files of an earlier output in dir, by its kustomization.yaml; none if
// that is missing or not by render.
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
	if err := yaml.Unmarshal(content, &kustomization); err != nil {
		return nil, nil // then render did not write it
	}
	written := map[string]bool{}
	for _, labels := range kustomization.Labels {
		if labels.Pairs[v1alpha1.ManagedByLabel] != v1alpha1.ManagedByValue {
			continue
		}
		written[render.KustomizationFile] = true
		for _, file := range kustomization.Resources {
			written[file] = true
		}
	}
	return written, nil
}
