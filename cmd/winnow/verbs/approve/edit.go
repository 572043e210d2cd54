// SPDX-License-Identifier: Apache-2.0

package approve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/approve/approvalfile"
	"github.com/winnow-dev/winnow/render/guard"
)

// edit is a file of the working directory with approvals.
type edit struct {
	// name is relative to the working directory.
	name          string
	before, after []byte
	mode          fs.FileMode
	// isNew reports that there is no such file, and isStaged that git adds it to the next commit.
	isNew, isStaged bool
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

// addTo adds the edits for one addition.
func addTo(ctx context.Context, edits map[string]*edit, one *addition) error {
	e, err := editOf(ctx, edits, one.file, one.kustomization != "")
	switch {
	case err != nil:
		return err
	case one.isPromotion():
		return e.approve(ctx, one)
	case one.kustomization == "" || e.after != nil:
		return e.add(ctx, one)
	}
	of, err := editOf(ctx, edits, one.kustomization, false)
	patch := path.Base(one.file)
	switch {
	case err != nil:
		return err
	case e.isNew:
		return errors.Join(e.create(ctx, one), of.patch(ctx, patch))
	case approvalfile.HasPatch(of.before, patch): // it was created before
		e.isStaged = true
		return e.add(ctx, one)
	}
	return fmt.Errorf("%s: it is there, and %s does not have it: remove it, or commit both", e.name, of.name)
}

// editOf returns the edit of a file, which may be new if absent is true.
func editOf(ctx context.Context, edits map[string]*edit, file string, absent bool) (*edit, error) {
	if e := edits[file]; e != nil {
		return e, nil
	}
	name, err := repository.Git{}.WorkingFile(ctx, file)
	if err != nil {
		return nil, err
	}
	e := &edit{name: name}
	if e.before, e.mode, err = files.ReadForEdit(name); absent && errors.Is(err, fs.ErrNotExist) {
		e.isNew, e.mode, err = true, 0o644, nil
	}
	edits[file] = e
	return e, err
}

// create makes a patch of the selection with the entries.
func (e *edit) create(ctx context.Context, one *addition) error {
	err := repository.Git{}.CanAdd(ctx, e.name)
	if err != nil {
		return err
	}
	e.isStaged = true
	if e.after, err = approvalfile.New(types.NamespacedName{Namespace: one.namespace, Name: one.key.Name}, slices.Concat(one.repeat, one.entries)); err != nil {
		return err
	}
	e.lines = append(e.lines, fmt.Sprintf("%s: created and added to the next commit, with %s", e.name, strings.Join(one.entries, ", ")))
	return nil
}

// patch adds a patch to a kustomization file, which has to be as in HEAD.
func (e *edit) patch(ctx context.Context, patch string) error {
	content := e.before
	if e.after != nil {
		content = e.after
	} else if err := (repository.Git{}).SameAsHead(ctx, e.name); err != nil {
		return err
	}
	var err error
	if e.after, err = approvalfile.AddPatch(content, patch); err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	e.lines = append(e.lines, fmt.Sprintf("%s: added the patch %s", e.name, patch))
	return nil
}

// approve adds the annotation of a promotion, for which the file has to be as in HEAD.
func (e *edit) approve(ctx context.Context, one *addition) error {
	content := e.before
	if e.after != nil {
		content = e.after
	} else if err := (repository.Git{}).SameAsHead(ctx, e.name); err != nil {
		return err
	}
	edited, line, err := stagefile.Approve(content, one.key.Name, one.entries[0])
	if err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	if bytes.Equal(edited, content) {
		e.lines = append(e.lines, fmt.Sprintf("%s:%d: already approved, nothing is written", e.name, line))
		return nil
	}
	e.after = edited
	e.lines = append(e.lines, fmt.Sprintf("%s:%d: approved %s", e.name, line, one.entries[0]))
	return nil
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
		e.lines = append(e.lines, alreadyApproved(e.name, found, one.entries[0]))
		return nil
	}
	if err := (repository.Git{}).SameAsHead(ctx, e.name); err != nil {
		return err
	}
	if e.after, err = found.Add(entries); err != nil {
		return fmt.Errorf("%s:%d: %w", e.name, found.Line(), err)
	}
	lines, err := addedLines(e.name, e.after, one.key, entries)
	e.lines = append(e.lines, lines...)
	return err
}

// missingEntries returns the entries that a list does not give: one with the same checksum and another note does, where the
// entry has none.
func missingEntries(approved, entries []string) []string {
	return slices.DeleteFunc(entries, func(entry string) bool {
		return slices.Contains(approved, entry) || !strings.Contains(entry, "#") && guard.Approves(approved, entry)
	})
}

// writeAll writes the edited files, in the order of the additions: a new patch before the file that names it.
func writeAll(ctx context.Context, added []*addition, edits map[string]*edit, out output.Streams) error {
	done := map[string]bool{"": true}
	for _, one := range added {
		for _, file := range []string{one.file, one.kustomization} {
			e := edits[file]
			if done[file] || e == nil {
				continue
			}
			done[file] = true
			if err := e.save(ctx); err != nil {
				return fmt.Errorf("writing %s: %w", e.name, err)
			}
			for _, line := range e.lines {
				fmt.Fprintln(out.Stdout, line)
			}
		}
	}
	return nil
}

func (e *edit) save(ctx context.Context) error {
	err := ctx.Err()
	switch {
	case err != nil:
		return err
	case e.isNew:
		err = createFile(e.name, e.after)
	case e.after != nil:
		err = files.Rewrite(e.name, e.before, e.after, e.mode)
	}
	if err != nil || !e.isStaged {
		return err
	}
	if err = (repository.Git{}).Add(ctx, e.name); err != nil && e.isNew {
		err = errors.Join(err, os.Remove(e.name))
	}
	return err
}

// createFile writes a file that does not exist.
func createFile(name string, content []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // the repository is public to its users
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}
