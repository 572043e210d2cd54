// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// clone is the working directory of the GitOps repository, at the main branch.
type clone struct{ t *testing.T }

// newClone makes a repository the working directory.
func newClone(t *testing.T) clone {
	t.Helper()
	for name, value := range map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_EDITOR": "true",
		"GIT_AUTHOR_NAME": "somebody", "GIT_AUTHOR_EMAIL": "somebody@example.com", "GIT_COMMITTER_NAME": "somebody", "GIT_COMMITTER_EMAIL": "somebody@example.com",
	} {
		t.Setenv(name, value)
	}
	t.Chdir(t.TempDir())
	c := clone{t}
	c.git("init", "-q", "-b", "main")
	for _, option := range []string{"gc.auto=0", "core.logAllRefUpdates=false", "core.fsync=none"} {
		name, value, _ := strings.Cut(option, "=")
		c.git("config", name, value)
	}
	return c
}

// try runs git.
func (c clone) try(args ...string) (string, error) {
	out, err := exec.CommandContext(c.t.Context(), "git", args...).Output()
	return strings.TrimSpace(string(out)), err
}

// git runs git, which must not fail.
func (c clone) git(args ...string) string {
	c.t.Helper()
	out, err := c.try(args...)
	if err != nil {
		var exit *exec.ExitError
		errors.As(err, &exit)
		c.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	return out
}

func (c clone) head() string { return c.git("rev-parse", "HEAD") }

// commit commits the working directory.
func (c clone) commit(title string) {
	c.t.Helper()
	c.git("add", "-A")
	c.git("commit", "-q", "-m", title)
}

// drop drops the last commit, and every edit.
func (c clone) drop(to string) {
	c.t.Helper()
	c.git("reset", "-q", "--hard", to)
	c.git("clean", "-q", "-d", "-f")
}

// read returns the content of a file, empty if there is none.
func (c clone) read(file string) string {
	c.t.Helper()
	content, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.t.Fatal(err)
	}
	return string(content)
}

func (c clone) write(file, content string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c clone) remove(file string) {
	c.t.Helper()
	if err := os.Remove(file); err != nil {
		c.t.Fatal(err)
	}
}
