// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Files of a release that steps read again.
const (
	referencesFile = "images.txt"
	checksumsFile  = "checksums.txt"
	bundleFile     = checksumsFile + ".sigstore.json"
)

// dir is the directory of the release: all in it is published.
func (o *options) dir() string { return filepath.Join(o.bin, "release") }

func (o *options) file(name string) string { return filepath.Join(o.dir(), name) }

// readCommit reads what the release is made of: archives and images have the time of the commit.
func (o *options) readCommit(ctx context.Context) error {
	out, err := output(ctx, nil, "git", "log", "-1", "--format=%H %ct", o.commit, "--")
	if err != nil {
		return err
	}
	commit, seconds, _ := strings.Cut(out, " ")
	created, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("git log printed %q: %w", out, err)
	}
	o.commit, o.created = commit, time.Unix(created, 0).UTC()
	return nil
}

// output runs a program, and returns what it prints on standard output, without the line end.
func output(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	// Variables of the make that runs this program are not for the one that it runs.
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MFLAGS=", "MAKELEVEL=", "MAKEOVERRIDES=")
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	// Interrupted, make and goreleaser stop their compilers.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// build runs a target of make, and returns what it prints.
func (o *options) build(ctx context.Context, target string, variables ...string) (string, error) {
	args := append([]string{"make", "--no-print-directory", target, "BIN=" + o.bin}, variables...)
	return output(ctx, []string{"SOURCE_DATE_EPOCH=" + strconv.FormatInt(o.created.Unix(), 10)}, args...)
}
