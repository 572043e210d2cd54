// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
)

// notes checks what a release needs before anything is built: its notes, and a tree that is the commit.
func notes(ctx context.Context, o *options) error {
	file := "docs/releases/" + o.version + ".md"
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		return fmt.Errorf("%s, the notes of the release, is missing or empty: see docs/releasing.md", file)
	}
	changed, err := output(ctx, nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the tree has changes that are in no commit:\n%s", changed)
	}
	return nil
}
