// SPDX-License-Identifier: Apache-2.0

// Package initialize is winnow init: it writes a catalog to start from. It must not replace a file.
package initialize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/examples"
	"github.com/winnow-dev/winnow/render/archive"
)

// New returns winnow init.
func New() *cobra.Command {
	return &cobra.Command{
		Use:   "init DIR",
		Short: "Write a catalog to start from",
		Long: "Write a catalog to start from: two applications with their metadata, a named\n" +
			"list, a README with the next steps, and cluster.yaml, which has what a cluster\n" +
			"needs to select from the catalog. docs/catalog-format.md explains the files.\n\n" +
			"DIR must be empty or not exist. Hidden files, such as .git, may be there.\n" +
			"Exit codes: 0 done, 2 usage or I/O.",
		Example: "  winnow init ./catalog\n\n" +
			"  # in a new repository\n" +
			"  git init catalog && winnow init catalog",
		Args: flags.Arguments(1, 1, "one DIR"),
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return initCatalog(cmd.Context(), args[0], flags.Notes(cmd))
		},
	}
}

func initCatalog(ctx context.Context, dir string, notes io.Writer) error {
	if err := checkOnlyHidden(dir); err != nil {
		return err
	}
	example, err := examples.CatalogRepository()
	if err != nil {
		return err
	}
	content, err := archive.ReadFS(ctx, example, archive.Limits{})
	if err != nil {
		return err
	}
	_, err = os.Lstat(dir)
	isNew := errors.Is(err, fs.ErrNotExist)
	err = files.Stage(dir, content.FS(), func(fresh, _ string) error { return files.MoveEntries(fresh, dir) })
	if err != nil {
		if isNew {
			_ = os.Remove(dir) // fails unless it is empty
		}
		return err
	}
	for _, path := range content.Paths() {
		fmt.Fprintf(notes, "wrote %s\n", filepath.Join(dir, filepath.FromSlash(path)))
	}
	fmt.Fprintf(notes, "next: winnow lint %s; %s has the other steps\n", dir, filepath.Join(dir, "README.md"))
	return nil
}

// checkOnlyHidden returns an error unless dir has only hidden files or does not exist.
func checkOnlyHidden(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the directory: %w", err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") {
			return fmt.Errorf("%s is not empty, it holds %s: choose another directory", dir, entry.Name())
		}
	}
	return nil
}
