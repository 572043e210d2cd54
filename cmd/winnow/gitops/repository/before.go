// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Time returns the time of the committer of a commit.
func (g Git) Time(ctx context.Context, commit string) (time.Time, error) {
	out, err := g.run(ctx, "log", "--no-show-signature", "-1", "--format=%ct", commit)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the time of %s: %w", Short(commit), err)
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
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
