// SPDX-License-Identifier: Apache-2.0

package farm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Repository is a repository of Git to make.
type Repository struct {
	// Dir is its directory, and Origin the URL of its remote.
	Dir, Origin string
	// Times of the commits; those without one have the present time.
	Times []time.Time
}

// Commit makes a repository of Git in a directory, with a commit for each set of files: those that differ from the commit
// before.
func Commit(ctx context.Context, dir string, commits ...map[string]string) error {
	return Repository{Dir: dir, Origin: "https://git.example.com/org/fleet.git"}.Commit(ctx, commits...)
}

// Commit makes the repository, with a commit for each set of files: those that differ from the commit before.
func (r Repository) Commit(ctx context.Context, commits ...map[string]string) error {
	if err := os.MkdirAll(r.Dir, 0o750); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"remote", "add", "origin", r.Origin}} {
		if err := r.git(ctx, nil, args...); err != nil {
			return err
		}
	}
	for n, files := range commits {
		if err := Write(r.Dir, files); err != nil {
			return err
		}
		var dated []string
		if n < len(r.Times) {
			at := r.Times[n].Format(time.RFC3339)
			dated = []string{"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at}
		}
		for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", fmt.Sprintf("commit %d", n+1)}} {
			if err := r.git(ctx, dated, args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// Write writes files into a directory, by their paths in it.
func Write(dir string, files map[string]string) error {
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

func (r Repository) git(ctx context.Context, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "user.name=somebody", "-c", "user.email=somebody@example.com"}, args...)...)
	cmd.Dir = r.Dir
	cmd.Env = append(append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}
