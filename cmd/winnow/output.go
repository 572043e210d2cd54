package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/tree"
)

// writeStream builds the tree with kustomize, as kustomize-controller does, and writes the
// objects as one YAML stream.
func writeStream(out io.Writer, files *tree.Tree) error {
	memory := filesys.MakeFsInMemory()
	for _, path := range files.Paths() {
		content, _ := files.Content(path)
		if err := memory.WriteFile(path, content); err != nil {
			return fmt.Errorf("preparing the build: %w", err)
		}
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, ".")
	if err != nil {
		return fmt.Errorf("building the artifact: %w", err)
	}
	stream, err := objects.AsYaml()
	if err != nil {
		return fmt.Errorf("building the artifact: %w", err)
	}
	_, err = out.Write(stream)
	return err
}

// writeArchive writes the artifact to a file, which is complete or is not there.
func writeArchive(file string, result *render.Result) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), ".winnow-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	err = errors.Join(result.WriteArchive(temporary), temporary.Chmod(0o644), temporary.Close())
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return os.Rename(temporary.Name(), file)
}

// writeDirectory makes dir hold the files of the tree and nothing else. It replaces an earlier
// output and refuses a directory with other files in it. What was there stays until the new
// files are complete.
func writeDirectory(dir string, files *tree.Tree) error {
	dir = filepath.Clean(dir)
	if err := checkReplaceable(dir); err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(parent, ".winnow-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	fresh := filepath.Join(work, "new")
	if err := os.CopyFS(fresh, files.FS()); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	if err := os.Rename(dir, filepath.Join(work, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(fresh, dir)
}

// checkReplaceable refuses a directory that is not empty and not an output of render.
func checkReplaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != render.KustomizationFile && e.Name() != render.ApplicationsDir {
			return fmt.Errorf("%s holds %s, which render did not write: choose an empty directory", dir, e.Name())
		}
	}
	return nil
}
