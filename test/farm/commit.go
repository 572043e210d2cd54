// SPDX-License-Identifier: Apache-2.0

package farm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Commit makes a repository of Git in a directory, with a commit for each set of files: those that differ from the commit
// before.
func Commit(ctx context.Context, dir string, commits ...map[string]string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := git(ctx, dir, "init", "-q"); err != nil {
		return err
	}
	if err := git(ctx, dir, "remote", "add", "origin", "https://git.example.com/org/fleet.git"); err != nil {
		return err
	}
	for n, files := range commits {
		if err := write(dir, files); err != nil {
			return err
		}
		if err := git(ctx, dir, "add", "-A"); err != nil {
			return err
		}
		if err := git(ctx, dir, "commit", "-q", "-m", fmt.Sprintf("commit %d", n+1)); err != nil {
			return err
		}
	}
	return nil
}

func write(dir string, files map[string]string) error {
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func git(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "user.name=somebody", "-c", "user.email=somebody@example.com"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}
