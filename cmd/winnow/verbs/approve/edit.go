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
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxPlaces bounds the selections that a line names.
const maxPlaces = 10

// addition is what a file takes for a selection.
type addition struct {
	file string
	key  types.NamespacedName
	// entries are the lines to be added; patch has them for a kustomization.yaml.
	entries []string
	patch   string
	// digest of a promotion.
	digest string
	// places need the entries.
	places []diff.Place
}

// additionsOf returns what files take, in the order of the report, and an error for the approvals that no file takes.
func additionsOf(report *diff.Report) (added []*addition, byHand []error) {
	var withoutFile []*addition
	for _, s := range report.Held() {
		if !s.IsApprovable() {
			continue
		}
		one := &addition{file: s.Held.File, key: types.NamespacedName{Namespace: s.Namespace, Name: s.Name},
			entries: s.Held.Approve, patch: s.Held.Patch, places: []diff.Place{s.Place()}}
		if s.Promotion != nil {
			_, one.digest, _ = strings.Cut(s.Promotion.To, "@")
		}
		all := &added
		if one.file == "" {
			all, one.file = &withoutFile, s.Held.Advice
		}
		if i := slices.IndexFunc(*all, one.isLike); i >= 0 {
			(*all)[i].places = append((*all)[i].places, s.Place())
		} else {
			*all = append(*all, one)
		}
	}
	for _, one := range withoutFile {
		byHand = append(byHand, fmt.Errorf("%s: not approved: %s: %s", shown(one.places), strings.Join(one.entries, ", "), one.file))
	}
	return added, byHand
}

func (a *addition) isLike(other *addition) bool {
	return other.file == a.file && other.key == a.key && other.places[0].Kind == a.places[0].Kind && other.digest == a.digest && other.patch == a.patch && slices.Equal(other.entries, a.entries)
}

func shown(places []diff.Place) string {
	return excerpt.List(places, maxPlaces, func(p diff.Place) string {
		return strings.Join(strings.Fields(p.Cluster+" "+p.Kind+" "+p.Namespace+"/"+p.Name), " ")
	})
}

// print prints what the file takes.
func (a *addition) print(out output.Streams) {
	fmt.Fprintln(out.Stdout, plaintext.Wrap(plaintext.Line(a.file+": for "+shown(a.places)), ""))
	for _, entry := range a.entries {
		fmt.Fprintf(out.Stdout, "  - %s\n", plaintext.Line(entry))
	}
}

// addTo returns a file with the entries, and the line that has the first of them.
func (a *addition) addTo(content []byte) (edited []byte, line int, err error) {
	switch {
	case a.places[0].Kind != "": // the annotation of an OCIRepository
		return stagefile.Approve(content, a.key.Name, a.digest, a.entries)
	case a.patch != "":
		return approvalfile.AddPatch(content, a.patch)
	}
	return approvalfile.Add(content, a.key, a.entries)
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
