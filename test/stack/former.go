// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ErrNoHistory reports that the repository does not have a commit: it is a shallow clone, or no clone.
var ErrNoHistory = errors.New("the repository does not have the commit: git fetch --unshallow gets it")

// FormerController returns the path of the controller of an earlier commit, given as its whole hash. It builds the
// controller once on this machine, with the dependencies of that commit.
func (s *Stack) FormerController(ctx context.Context, commit string) (string, error) {
	if _, err := s.git(ctx, nil, "cat-file", "-e", commit+"^{commit}"); err != nil {
		return "", errors.Join(ErrNoHistory, err)
	}
	b, err := newBuilder(s.root, s.progress)
	if err != nil {
		return "", err
	}
	version, err := goOutput(ctx, s.root, "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(b.cache, WinnowController+"-"+commit[:12]+"-"+version)
	path := filepath.Join(dir, WinnowController)
	return path, b.locked(ctx, dir, func() error {
		if executable(path) {
			return nil
		}
		s.progress.step("building, only once: the controller of %s", commit[:12])
		started := time.Now()
		defer func() { s.progress.note("built in %s", round(time.Since(started))) }()
		return s.buildFormer(ctx, commit, dir, path)
	})
}

// buildFormer builds the controller of a commit from its files in a directory in dir.
func (s *Stack) buildFormer(ctx context.Context, commit, dir, path string) error {
	temporary, err := os.MkdirTemp(dir, temporaryPrefix)
	if err != nil {
		return err
	}
	source, built := filepath.Join(temporary, "source"), filepath.Join(temporary, WinnowController)
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(temporary, "index")} // that of the user stays as it is
	_, err = s.git(ctx, index, "read-tree", commit)
	if err == nil {
		_, err = s.git(ctx, index, "checkout-index", "--all", "--prefix="+source+string(filepath.Separator))
	}
	if err == nil {
		err = goRun(ctx, source, []string{"CGO_ENABLED=0"}, "build", "-o", built, "-buildvcs=false", "-ldflags=-s -w", "./cmd/"+WinnowController)
	}
	if err == nil {
		err = os.Rename(built, path)
	}
	return errors.Join(err, os.RemoveAll(temporary))
}

// FormerFile returns a file of an earlier commit.
func (s *Stack) FormerFile(ctx context.Context, commit, path string) ([]byte, error) {
	return s.git(ctx, nil, "show", commit+":"+path)
}

// git runs git in the repository and returns its output.
func (s *Stack) git(ctx context.Context, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return output, nil
}
