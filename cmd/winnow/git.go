package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Bounds of what is read of a Git repository.
const (
	maxGitListing = 64 << 20 // bytes of a list of files
	maxGitFile    = 1 << 20  // bytes of a file
	maxGitFiles   = 20_000
	maxGitBytes   = 256 << 20
	maxGitMessage = 4 << 10
)

// commitID is what git calls a commit.
var commitID = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// git runs the git of the PATH in the working directory. It reads objects that are there, and talks
// to nobody.
type git struct{}

// gitFile is a file of a commit.
type gitFile struct {
	path    string
	content []byte
}

// commits resolves BASE..HEAD, or BASE...HEAD: what HEAD has changed since it left BASE. Without
// HEAD it is that of the repository.
func (g git) commits(ctx context.Context, revisions string) (base, head string, err error) {
	left, right, threeDots := strings.Cut(revisions, "...")
	if !threeDots {
		var twoDots bool
		if left, right, twoDots = strings.Cut(revisions, ".."); !twoDots {
			return "", "", fmt.Errorf("--git %s: want BASE..HEAD or BASE...HEAD", plain(revisions))
		}
	}
	if right == "" {
		right = "HEAD"
	}
	if base, err = g.commit(ctx, left); err != nil {
		return "", "", err
	}
	if head, err = g.commit(ctx, right); err != nil || !threeDots {
		return base, head, err
	}
	out, err := g.run(ctx, "merge-base", base, head)
	if err != nil {
		return "", "", fmt.Errorf("finding where %s has left %s: %w", plain(right), plain(left), err)
	}
	return strings.TrimSpace(string(out)), head, nil
}

// commit resolves a revision, which may be anybody's text.
func (g git) commit(ctx context.Context, revision string) (string, error) {
	if revision == "" || strings.HasPrefix(revision, "-") || revision != plain(revision) || strings.ContainsAny(revision, " :") {
		return "", fmt.Errorf("%q is not a revision of Git", revision)
	}
	out, err := g.run(ctx, "rev-parse", "--verify", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("there is no revision %s here; a shallow clone has few: %w", revision, err)
	}
	id := strings.TrimSpace(string(out))
	if !commitID.MatchString(id) {
		return "", fmt.Errorf("git says that %s is %q", revision, id)
	}
	return id, nil
}

// root makes a path in the working directory one of the repository.
func (g git) root(ctx context.Context, dir string) (string, error) {
	out, err := g.run(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return "", fmt.Errorf("looking for the Git repository: %w", err)
	}
	full := path.Join(strings.TrimSuffix(string(out), "\n"), dir)
	if path.IsAbs(dir) || full != "" && !fs.ValidPath(full) {
		return "", fmt.Errorf("%s is not a path inside of the repository", dir)
	}
	if full == "" {
		full = "."
	}
	return full, nil
}

// files returns the YAML files of a commit below a path, sorted by path, of which keep is true for
// the content, and notes on those that are left out. exists says whether the path is there.
func (g git) files(ctx context.Context, commit, dir string, keep func([]byte) bool) (found []gitFile, notes []string, exists bool, err error) {
	args := []string{"ls-tree", "-r", "-z", "-l", "--full-tree", commit}
	if dir != "." {
		args = append(args, "--", dir)
	}
	listing, err := g.run(ctx, args...)
	if err != nil {
		return nil, nil, false, fmt.Errorf("listing the files of %s: %w", commit, err)
	}
	var blobs []gitBlob
	total := 0
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(listing), "\x00"), "\x00") {
		exists = exists || entry != ""
		blob, ok := newGitBlob(entry)
		if !ok {
			continue
		}
		if blob.size > maxGitFile {
			notes = append(notes, fmt.Sprintf("%s is left out: it is larger than %d bytes", blob.path, maxGitFile))
			continue
		}
		blobs = append(blobs, blob)
		if total += blob.size; total > maxGitBytes || len(blobs) > maxGitFiles {
			return nil, nil, exists, fmt.Errorf("%s has more than %d YAML files, or %d bytes of them: pass the PATH of fewer",
				commit, maxGitFiles, maxGitBytes)
		}
	}
	found, err = g.contents(ctx, blobs, keep)
	return found, notes, exists, err
}

// gitBlob is a YAML file in a list of git.
type gitBlob struct {
	id, path string
	size     int
}

// newGitBlob reads a line of ls-tree. It is not ok for other files, symbolic links (mode 120000) and
// submodules.
func newGitBlob(line string) (gitBlob, bool) {
	head, name, _ := strings.Cut(line, "\t")
	fields := strings.Fields(head)
	yaml := strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
	if len(fields) != 4 || fields[1] != "blob" || !strings.HasPrefix(fields[0], "100") || !yaml {
		return gitBlob{}, false
	}
	size, err := strconv.Atoi(fields[3])
	return gitBlob{id: fields[2], path: name, size: size}, err == nil
}

// contents reads blobs.
func (g git) contents(ctx context.Context, blobs []gitBlob, keep func([]byte) bool) ([]gitFile, error) {
	if len(blobs) == 0 {
		return nil, nil
	}
	var ids bytes.Buffer
	for _, blob := range blobs {
		fmt.Fprintln(&ids, blob.id)
	}
	var found []gitFile
	err := g.stream(ctx, &ids, func(out *bufio.Reader) error {
		for _, blob := range blobs {
			content, err := readBlob(out, blob)
			if err != nil {
				return err
			}
			if keep(content) {
				found = append(found, gitFile{path: blob.path, content: content})
			}
		}
		return nil
	}, "cat-file", "--batch")
	if err != nil {
		return nil, fmt.Errorf("reading files of Git: %w", err)
	}
	return found, nil
}

// readBlob reads what cat-file says of a blob: a header, the content and a line break.
func readBlob(out *bufio.Reader, blob gitBlob) ([]byte, error) {
	header, err := out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if want := fmt.Sprintf("%s blob %d\n", blob.id, blob.size); header != want {
		return nil, fmt.Errorf("%s is not to be had: %s", blob.path, plain(header))
	}
	content := make([]byte, blob.size+1)
	_, err = io.ReadFull(out, content)
	return content[:blob.size], err
}

// run returns what git prints.
func (g git) run(ctx context.Context, args ...string) ([]byte, error) {
	var content []byte
	err := g.stream(ctx, nil, func(out *bufio.Reader) error {
		var err error
		content, err = io.ReadAll(io.LimitReader(out, maxGitListing+1))
		if len(content) > maxGitListing {
			return fmt.Errorf("git prints more than %d bytes", maxGitListing)
		}
		return err
	}, args...)
	return content, err
}

// stream hands what git prints to read. git ends when read does.
func (g git) stream(ctx context.Context, stdin io.Reader, read func(*bufio.Reader) error, args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // revisions and paths of users are checked, and come after the options
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1",
		// Objects that a partial clone lacks are not fetched.
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	cmd.Stdin = stdin
	message := &firstBytes{limit: maxGitMessage}
	cmd.Stderr = message
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("running git: %w", err)
	}
	failure := read(bufio.NewReader(out))
	if failure != nil {
		cancel()
	}
	err = cmd.Wait()
	switch {
	case failure != nil && !errors.Is(failure, io.EOF) && !errors.Is(failure, io.ErrUnexpectedEOF):
		return failure
	case err != nil:
		return fmt.Errorf("git %s: %w: %s", args[0], err, plain(message.String()))
	}
	return failure
}

// firstBytes keeps the first bytes of what is written.
type firstBytes struct {
	bytes.Buffer
	limit int
}

// Write never fails.
func (h *firstBytes) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), max(0, h.limit-h.Len()))])
	return len(p), nil
}
