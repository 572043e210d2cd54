// SPDX-License-Identifier: Apache-2.0

package approve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// edit is a file of the working directory with approvals.
type edit struct {
	// name is relative to the working directory.
	name          string
	before, after []byte
	mode          fs.FileMode
	// lines are printed once it is written.
	lines []string
}

// writeAt adds approvals to files of the working directory, which has to be at the commit. It writes nothing unless prove
// accepts the contents of the files.
func writeAt(ctx context.Context, commit string, added []*addition, prove func(contents map[string][]byte) error, out output.Streams) error {
	git := repository.Git{}
	at, err := git.Commit(ctx, "HEAD")
	if err != nil {
		return err
	}
	if at != commit {
		return fmt.Errorf("the working directory is at %s: check out %s, which is compared", repository.Short(at), repository.Short(commit))
	}
	edits, err := editsOf(ctx, added)
	if err != nil {
		return err
	}
	contents := map[string][]byte{}
	for file, e := range edits {
		if e.after != nil {
			contents[file] = e.after
		}
	}
	if len(contents) > 0 {
		if err := prove(contents); err != nil {
			return fmt.Errorf("nothing is written, because the commit with the approvals is not as it should be: %w", err)
		}
	}
	return writeAll(ctx, added, edits, out)
}

// editsOf returns the edits by the files of the repository.
func editsOf(ctx context.Context, added []*addition) (map[string]*edit, error) {
	edits := map[string]*edit{}
	var failures []error
	for _, one := range added {
		if err := addTo(ctx, edits, one); err != nil {
			failures = append(failures, err)
		}
	}
	return edits, errors.Join(failures...)
}

// addTo adds the edit for one addition, for which the file has to be as in HEAD.
func addTo(ctx context.Context, edits map[string]*edit, one *addition) error {
	e, err := editOf(ctx, edits, one.file)
	if err != nil {
		return err
	}
	content := e.before
	if e.after != nil {
		content = e.after
	}
	edited, line, err := one.addTo(content)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", e.name, err)
	case bytes.Equal(edited, content):
		e.lines = append(e.lines, alreadyApproved(e.name, line))
		return nil
	}
	e.after, e.lines = edited, append(e.lines, added(e.name, line, one.entries))
	return repository.Git{}.SameAsHead(ctx, e.name)
}

// editOf returns the edit of a file.
func editOf(ctx context.Context, edits map[string]*edit, file string) (*edit, error) {
	if e := edits[file]; e != nil {
		return e, nil
	}
	name, err := repository.Git{}.WorkingFile(ctx, file)
	if err != nil {
		return nil, err
	}
	e := &edit{name: name}
	e.before, e.mode, err = files.ReadForEdit(name)
	edits[file] = e
	return e, err
}

// writeAll writes the edited files, in the order of the additions.
func writeAll(ctx context.Context, added []*addition, edits map[string]*edit, out output.Streams) error {
	done := map[string]bool{"": true}
	for _, one := range added {
		e := edits[one.file]
		if done[one.file] || e == nil {
			continue
		}
		done[one.file] = true
		if err := e.save(ctx); err != nil {
			return fmt.Errorf("writing %s: %w", e.name, err)
		}
		for _, line := range e.lines {
			fmt.Fprintln(out.Stdout, line)
		}
	}
	return nil
}

func (e *edit) save(ctx context.Context) error {
	if e.after == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return files.Rewrite(e.name, e.before, e.after, e.mode)
}
