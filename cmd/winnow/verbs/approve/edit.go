// SPDX-License-Identifier: Apache-2.0

package approve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/approvalfile"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

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
	edits := map[string]*files.Edit{}
	for _, one := range added {
		err = errors.Join(err, addTo(ctx, edits, one))
	}
	if err != nil {
		return err
	}
	contents := map[string][]byte{}
	for file, e := range edits {
		if e.IsChanged() {
			contents[file] = e.After
		}
	}
	if len(contents) > 0 {
		if err := prove(contents); err != nil {
			return fmt.Errorf("nothing is written, because the commit with the approvals is not as it should be: %w", err)
		}
	}
	var all []*files.Edit
	for _, one := range added { // in their order
		if e := edits[one.file]; e != nil && !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return files.Save(ctx, printer(out), all...)
}

// addTo adds the edit for one addition, for which the file has to be as in HEAD.
func addTo(ctx context.Context, edits map[string]*files.Edit, one *addition) error {
	e, err := editOf(ctx, edits, one.file)
	if err != nil {
		return err
	}
	edited, line, err := one.addTo(e.After)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", e.Name, err)
	case bytes.Equal(edited, e.After):
		e.Lines = append(e.Lines, alreadyApproved(e.Name, line))
		return nil
	}
	e.After, e.Lines = edited, append(e.Lines, added(e.Name, line, one.entries))
	return repository.Git{}.SameAsHead(ctx, e.Name)
}

// editOf returns the edit of a file.
func editOf(ctx context.Context, edits map[string]*files.Edit, file string) (*files.Edit, error) {
	if e := edits[file]; e != nil {
		return e, nil
	}
	name, err := repository.Git{}.WorkingFile(ctx, file)
	if err != nil {
		return nil, err
	}
	edits[file], err = files.OpenEdit(name)
	return edits[file], err
}

// approveInFile adds the lines that a selection of a cluster offers to the same selection in a file.
func approveInFile(ctx context.Context, name string, cs *v1alpha1.CatalogSelection, out output.Streams) error {
	e, err := files.OpenEdit(name)
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: cs.Namespace, Name: cs.Name}
	if found, err := approvalfile.Find(e.Before, key); err == nil && found.IsPatch() {
		return output.Finding(fmt.Errorf("%s:%d: it is a patch of the CatalogSelection, whose list would replace all others: "+
			"add the lines to its kustomization.yaml, as a JSON patch", name, found.Line()))
	}
	var line int
	e.After, line, err = approvalfile.Add(e.Before, key, cs.Status.Held.Approve)
	switch {
	case err != nil:
		return output.Finding(fmt.Errorf("%s: %w", name, err))
	case !e.IsChanged():
		fmt.Fprintln(out.Stdout, alreadyApproved(name, line))
		return nil
	}
	e.Lines = []string{added(name, line, cs.Status.Held.Approve)}
	if err := files.Save(ctx, printer(out), e); err != nil {
		return err
	}
	if (repository.Git{Dir: filepath.Dir(name)}).IsUntracked(ctx, filepath.Base(name)) {
		fmt.Fprintf(out.Notes, "note: git does not know %s: run git add %s\n", name, name)
	}
	return nil
}

func printer(out output.Streams) func(line string) {
	return func(line string) { fmt.Fprintln(out.Stdout, line) }
}

func added(name string, line int, entries []string) string {
	return fmt.Sprintf("%s:%d: added %s", name, line, strings.Join(entries, ", "))
}

func alreadyApproved(name string, line int) string {
	return fmt.Sprintf("%s:%d: the file has the lines already: commit it, and let Flux apply it", name, line)
}
