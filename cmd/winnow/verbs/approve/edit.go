// SPDX-License-Identifier: Apache-2.0

package approve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/approve/approvalfile"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
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

// write adds approvals to files of the working directory, which has to be at the commit. It builds the commit with the edits
// first, and writes nothing unless these reach what needs them, and nothing else.
func (o *approveOptions) write(ctx context.Context, commit string, paths []string, added []*addition, out output.Streams) error {
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
		if err := o.commits.ProveApprovals(ctx, commit, paths, contents, neededBy(added)); err != nil {
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
		e := edits[one.file]
		if e == nil {
			name, err := repository.Git{}.WorkingFile(ctx, one.file)
			if err != nil {
				failures = append(failures, err)
				continue
			}
			e = &edit{name: name}
			if e.before, e.mode, err = readForEdit(name); err != nil {
				failures = append(failures, err)
				continue
			}
			edits[one.file] = e
		}
		if err := e.add(ctx, one); err != nil {
			failures = append(failures, err)
		}
	}
	return edits, errors.Join(failures...)
}

// add adds the entries of one selection, for which the file has to be as in HEAD.
func (e *edit) add(ctx context.Context, one *addition) error {
	content := e.before
	if e.after != nil {
		content = e.after
	}
	found, err := approvalfile.Find(content, one.key)
	if err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	entries := missingEntries(found.Approved(), slices.Concat(one.repeat, one.entries))
	if len(entries) == 0 {
		e.lines = append(e.lines, fmt.Sprintf("%s:%d: already approved, nothing is written", e.name, found.Line()))
		return nil
	}
	if err := (repository.Git{}).SameAsHead(ctx, e.name); err != nil {
		return err
	}
	if e.after, err = found.Add(entries); err != nil {
		return fmt.Errorf("%s:%d: %w", e.name, found.Line(), err)
	}
	for _, entry := range entries {
		e.lines = append(e.lines, fmt.Sprintf("%s:%d: added %s", e.name, found.Line(), entry))
	}
	return nil
}

// missingEntries returns the entries that a list does not give: one with the same checksum and another note does, where the
// entry has none.
func missingEntries(approved, entries []string) []string {
	return slices.DeleteFunc(entries, func(entry string) bool {
		return slices.Contains(approved, entry) || !strings.Contains(entry, "#") && guard.Approves(approved, entry)
	})
}

// neededBy returns a function that returns the entries that a selection needs.
func neededBy(added []*addition) func(diff.Place) []string {
	needs := map[diff.Place][]string{}
	for _, one := range added {
		for _, place := range one.places {
			needs[place] = append(needs[place], one.entries...)
		}
	}
	return func(place diff.Place) []string { return needs[place] }
}

// writeAll writes the edited files, in the order of the additions.
func writeAll(ctx context.Context, added []*addition, edits map[string]*edit, out output.Streams) error {
	done := map[string]bool{}
	for _, one := range added {
		e := edits[one.file]
		if done[one.file] {
			continue
		}
		done[one.file] = true
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.after != nil {
			if err := rewriteFile(e.name, e.before, e.after, e.mode); err != nil {
				return fmt.Errorf("writing %s: %w", e.name, err)
			}
		}
		for _, line := range e.lines {
			fmt.Fprintln(out.Stdout, line)
		}
	}
	return nil
}
