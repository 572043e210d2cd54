// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/bounded"
)

// Bounds of the output of git.
const (
	maxGitListing = 64 << 20 // bytes of a list of files
	maxGitMessage = 4 << 10
)

// commitID matches the identifier of a commit.
var commitID = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// Git runs the git of the PATH. It reads local objects and never uses the network. Only Add writes, to the index.
type Git struct {
	// Dir is a directory of the repository, the working directory if it is empty. Paths are relative to it where a method
	// calls them relative to the working directory.
	Dir string
}

// Commits resolves BASE..HEAD, or BASE...HEAD, whose base is the merge base of both. HEAD defaults to HEAD of the repository.
func (g Git) Commits(ctx context.Context, revisions string) (base, head string, err error) {
	left, right, threeDots := strings.Cut(revisions, "...")
	if !threeDots {
		var twoDots bool
		if left, right, twoDots = strings.Cut(revisions, ".."); !twoDots {
			return "", "", fmt.Errorf("--git %s: want BASE..HEAD or BASE...HEAD", plaintext.Line(revisions))
		}
	}
	right = cmp.Or(right, "HEAD")
	if base, err = g.commit(ctx, left); err != nil {
		return "", "", err
	}
	if head, err = g.commit(ctx, right); err != nil || !threeDots {
		return base, head, err
	}
	out, err := g.run(ctx, "merge-base", base, head)
	if err != nil {
		return "", "", fmt.Errorf("finding where %s has left %s: %w", plaintext.Line(right), plaintext.Line(left), err)
	}
	return strings.TrimSpace(string(out)), head, nil
}

// Commit resolves a revision, such as HEAD or the name of a branch.
func (g Git) Commit(ctx context.Context, revision string) (string, error) {
	if strings.Contains(revision, "..") {
		return "", fmt.Errorf("--git %s: want one commit, such as HEAD", plaintext.Line(revision))
	}
	return g.commit(ctx, revision)
}

// commit resolves a revision, which is untrusted text.
func (g Git) commit(ctx context.Context, revision string) (string, error) {
	if revision == "" || strings.HasPrefix(revision, "-") || revision != plaintext.Line(revision) || strings.ContainsAny(revision, " :") {
		return "", fmt.Errorf("%q is not a revision of Git", revision)
	}
	out, err := g.run(ctx, "rev-parse", "--verify", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return "", g.noRevision(ctx, revision, err)
	}
	id := strings.TrimSpace(string(out))
	if !commitID.MatchString(id) {
		return "", fmt.Errorf("git resolves %s to %q, which is no commit", revision, id)
	}
	return id, nil
}

// noRevision returns the error for a revision that git does not resolve.
func (g Git) noRevision(ctx context.Context, revision string, err error) error {
	_, outside := g.run(ctx, "rev-parse", "--git-dir")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return err
	case outside != nil:
		return fmt.Errorf("no Git repository is here: change to a clone of the GitOps repository: %w", outside)
	case g.IsShallow(ctx):
		return fmt.Errorf("there is no revision %s here, and this clone is shallow: fetch the history: %w", revision, err)
	}
	return fmt.Errorf("there is no revision %s here: %w", revision, err)
}

// IsShallow reports whether the clone lacks older commits.
func (g Git) IsShallow(ctx context.Context) bool {
	out, err := g.run(ctx, "rev-parse", "--is-shallow-repository")
	return err == nil && bytes.HasPrefix(out, []byte("true"))
}

// Root converts a path relative to the working directory to one relative to the root of the repository.
func (g Git) Root(ctx context.Context, dir string) (string, error) {
	out, err := g.run(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return "", fmt.Errorf("looking for the Git repository: %w", err)
	}
	full := path.Join(strings.TrimSuffix(string(out), "\n"), dir)
	if path.IsAbs(dir) || full != "" && !fs.ValidPath(full) {
		return "", fmt.Errorf("%s is not a path inside of the repository", dir)
	}
	return cmp.Or(full, "."), nil
}

// WorkingFile converts a path relative to the root of the repository to one relative to the working directory. It refuses
// one that leads through links.
func (g Git) WorkingFile(ctx context.Context, name string) (string, error) {
	out, err := g.run(ctx, "rev-parse", "--show-cdup")
	if err != nil {
		return "", fmt.Errorf("looking for the Git repository: %w", err)
	}
	if !fs.ValidPath(name) {
		return "", fmt.Errorf("%s is not a path inside of the repository", name)
	}
	top := strings.TrimSuffix(string(out), "\n")
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := os.Lstat(path.Join(g.Dir, top, dir))
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is a link or no directory", dir)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	return path.Join(top, name), nil
}

// IsEdited reports whether a file, relative to the working directory, differs from HEAD.
func (g Git) IsEdited(ctx context.Context, name string) (bool, error) {
	out, err := g.status(ctx, name)
	if err != nil {
		return false, fmt.Errorf("%s: comparing it with HEAD: %w", name, err)
	}
	return len(out) > 0, nil
}

// IsUntracked reports whether a file, relative to the working directory, is in a repository that does not track it.
func (g Git) IsUntracked(ctx context.Context, name string) bool {
	out, err := g.status(ctx, name)
	return err == nil && (bytes.HasPrefix(out, []byte("??")) || bytes.HasPrefix(out, []byte("!!")))
}

func (g Git) status(ctx context.Context, name string) ([]byte, error) {
	return g.run(ctx, "status", "--porcelain", "--untracked-files=all", "--ignored", "--", name)
}

// SameAsHead returns an error if a file, relative to the working directory, differs from HEAD.
func (g Git) SameAsHead(ctx context.Context, name string) error {
	edited, err := g.IsEdited(ctx, name)
	if err == nil && edited {
		err = fmt.Errorf("%s: it is not as in HEAD: commit it, or drop its edits with git restore --staged --worktree %s", name, name)
	}
	return err
}

// run runs git and returns its output.
func (g Git) run(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	isTooMuch := false
	out := &bounded.Buffer{Most: maxGitListing, Exceed: func() {
		isTooMuch = true
		cancel()
	}}
	message := &bounded.Buffer{Most: maxGitMessage}
	cmd := g.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = out, message
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("running git: %w", err)
	}
	err := cmd.Wait()
	switch {
	case isTooMuch:
		return nil, fmt.Errorf("git prints more than %d bytes", maxGitListing)
	case err != nil:
		said, _, _ := strings.Cut(string(message.Kept), "\nhint: ")
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, plaintext.Line(said))
	}
	return out.Kept, nil
}

// command returns a git command without prompts, optional locks, patterns in paths and network access.
func (g Git) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // revisions and paths of users are checked, and come after the options
	cmd.Dir = g.Dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1",
		// Objects that a partial clone lacks are not fetched.
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	return cmd
}
