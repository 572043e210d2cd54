// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// Change is a commit.
type Change struct {
	Commit string
	// At is the time of the committer, who may have written another one.
	At time.Time
}

// maxChanges bounds the commits that History reads.
const maxChanges = 1_000

// Since returns the commit since which a file, a path in the repository, has a value that same recognizes: the oldest of the
// last commits with it. It follows the first parents, so that a merge counts when it was made. What it returns is too young
// if the file was renamed, or if the clone is shallow.
func (g Git) Since(ctx context.Context, commit, name string, same func(content []byte) bool) (since Change, err error) {
	err = g.History(ctx, commit, name, func(change Change, content []byte) bool {
		if !same(content) {
			return false
		}
		since = change
		return true
	})
	if err == nil && since.Commit == "" {
		err = fmt.Errorf("%s: its history has no commit with this value", name)
	}
	return since, err
}

// History calls each with the last commits that changed a file, from the latest on, and its content there, until each returns
// false or the file is not there.
func (g Git) History(ctx context.Context, commit, name string, each func(change Change, content []byte) bool) error {
	file, err := g.WorkingFile(ctx, name)
	if err != nil {
		return err
	}
	out, err := g.run(ctx, "log", "--no-show-signature", "--first-parent", "--format=%H %ct", "-n", strconv.Itoa(maxChanges), commit, "--", file)
	if err != nil {
		return fmt.Errorf("%s: reading its history: %w", name, err)
	}
	for line := range strings.Lines(string(out)) {
		id, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		seconds, err := strconv.ParseInt(at, 10, 64)
		if err != nil || !commitID.MatchString(id) {
			return fmt.Errorf("%s: git prints %s as a commit of its history", name, plaintext.Line(line))
		}
		content, err := g.Content(ctx, id, name)
		if err != nil || !each(Change{Commit: id, At: time.Unix(seconds, 0).UTC()}, content) {
			break
		}
	}
	return nil
}

// Content returns the content of a file in a commit.
func (g Git) Content(ctx context.Context, commit, name string) ([]byte, error) {
	content, err := g.run(ctx, "cat-file", "blob", commit+":"+name)
	if err == nil && len(content) > MaxFile {
		err = fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, MaxFile)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return content, nil
}

// Time returns the time of the committer of a commit.
func (g Git) Time(ctx context.Context, commit string) (time.Time, error) {
	var seconds int64
	out, err := g.run(ctx, "log", "--no-show-signature", "-1", "--format=%ct", commit)
	if err == nil {
		seconds, err = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the time of %s: %w", Short(commit), err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// Before returns the last of the first parents of a commit that is older than it by a duration, or the oldest of them that
// the clone has.
func (g Git) Before(ctx context.Context, commit string, age time.Duration) (string, error) {
	at, err := g.Time(ctx, commit)
	if err != nil {
		return "", err
	}
	limit := fmt.Sprintf("--before=%d", at.Add(-age).Unix())
	for _, args := range [][]string{{limit, "-1"}, {"--max-parents=0", "-1"}} {
		out, err := g.run(ctx, append([]string{"rev-list", "--first-parent"}, append(args, commit)...)...)
		if err != nil {
			return "", fmt.Errorf("looking for a commit before %s: %w", Short(commit), err)
		}
		if id := strings.TrimSpace(string(out)); commitID.MatchString(id) {
			return id, nil
		}
	}
	return commit, nil
}
