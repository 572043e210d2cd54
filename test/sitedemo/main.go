// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/farm"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sitedemo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) != 1 {
		return errors.New("usage: sitedemo DIR, in the root of the repository")
	}
	work, err := os.MkdirTemp("", "sitedemo-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	catalogs, err := exampleCatalogs("examples/catalog")
	if err != nil {
		return err
	}
	stop, err := serve(ctx, catalogs)
	if err != nil {
		return err
	}
	defer stop()
	files, err := estate("examples/clusters")
	if err != nil {
		return err
	}
	repository := farm.Repository{Dir: filepath.Join(work, "clusters"), Origin: "ssh://git@git.example.com/platform/clusters"}
	for n := range files {
		repository.Times = append(repository.Times, time.Date(2026, time.January, 5+10*n, 9, 0, 0, 0, time.UTC))
	}
	if err := repository.Commit(ctx, files...); err != nil {
		return err
	}
	for name, content := range map[string]map[string]string{"large": large(), "hostile": hostile()} {
		if err := farm.Write(filepath.Join(work, name), content); err != nil {
			return err
		}
	}
	for _, site := range [][]string{
		{"fleet", "--title", "Example platform", "operators=examples/operators/catalog", "--git", repository.Dir, "--plain-http"},
		{"large", "large=" + filepath.Join(work, "large")},
		{"hostile", "hostile=" + filepath.Join(work, "hostile")},
	} {
		args := append([]string{"site", "-o", filepath.Join(args[0], site[0])}, site[1:]...)
		if code := root.Run(ctx, args, os.Stdin, os.Stdout, os.Stderr); code != root.ExitOK {
			return fmt.Errorf("winnow site of %s exits with %d", site[0], code)
		}
	}
	return nil
}
