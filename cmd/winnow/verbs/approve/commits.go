// SPDX-License-Identifier: Apache-2.0

package approve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/approve/approvalfile"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/guard"
)

// everyFile is the value of --write without one.
const everyFile = "true"

// switching is the value of --git. It lets --write go without a value.
type switching struct {
	pflag.Value

	write *pflag.Flag
}

// Set is part of pflag.Value.
func (s *switching) Set(value string) error {
	s.write.NoOptDefVal = everyFile
	return s.Value.Set(value)
}

// addition is what a file takes.
type addition struct {
	file string
	key  types.NamespacedName
	// entries are to be added, behind those of a base that the list in the file replaces.
	repeat, entries []string
	// places need the entries.
	places []string
}

// runCommits approves what two commits hold.
func (o *approveOptions) runCommits(ctx context.Context, paths []string, out output.Streams) error {
	if o.file != "" && o.file != everyFile {
		return fmt.Errorf("with --git, which comes first, --write has no value: %s is none of a flag", plaintext.Line(o.file))
	}
	var cluster *live.Cluster // none: a commit has no cluster
	report, err := o.commits.Compare(ctx, paths, &o.access, cluster.Compare)
	if err != nil {
		return output.Unusable(err)
	}
	var failures []error
	for _, message := range report.Trips([]string{"unknown"}) {
		failures = append(failures, fmt.Errorf("%s: what cannot be compared is not approved", message))
	}
	added, byHand := additionsOf(report)
	if len(added)+len(byHand) == 0 {
		fmt.Fprintln(out.Stdout, "nothing is held that an approval would release")
	}
	for _, one := range added {
		if err := o.approveIn(ctx, one, out); err != nil {
			failures = append(failures, err)
		}
	}
	if len(failures)+len(byHand) == 0 {
		return nil
	}
	return output.Finding(errors.Join(append(failures, byHand...)...))
}

// additionsOf returns what files take, in their order, and the approvals that no file takes.
func additionsOf(report *diff.Report) (added []*addition, byHand []error) {
	var withoutFile []*addition
	for _, s := range report.Selections {
		if s.Held == nil || s.Held.Approved || len(s.Held.Approve) == 0 {
			continue
		}
		one := &addition{file: s.Held.File, key: types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, repeat: s.Held.Repeat, entries: s.Held.Approve}
		place := strings.TrimPrefix(s.Cluster+" "+s.Namespace+"/"+s.Name, " ")
		all := &added
		if one.file == "" {
			all, one.file = &withoutFile, s.Held.Advice
		}
		i := slices.IndexFunc(*all, func(other *addition) bool {
			return other.file == one.file && other.key == one.key && slices.Equal(other.entries, one.entries) && slices.Equal(other.repeat, one.repeat)
		})
		if i < 0 {
			i, *all = len(*all), append(*all, one)
		}
		(*all)[i].places = append((*all)[i].places, place)
	}
	for _, one := range withoutFile {
		byHand = append(byHand, fmt.Errorf("%s: not approved: %s: %s", excerpt.Names(one.places, maxPlaces), strings.Join(one.entries, ", "), one.file))
	}
	return added, byHand
}

// maxPlaces bounds the selections that a line names.
const maxPlaces = 10

// approveIn prints what a file takes, and adds it with --write.
func (o *approveOptions) approveIn(ctx context.Context, one *addition, out output.Streams) error {
	fmt.Fprintln(out.Stdout, plaintext.Wrap(fmt.Sprintf("%s: for %s", plaintext.Line(one.file), plaintext.Line(excerpt.Names(one.places, maxPlaces))), ""))
	for _, entry := range one.repeat {
		fmt.Fprintf(out.Stdout, "  - %s # of the base, whose list this one replaces\n", plaintext.Line(entry))
	}
	for _, entry := range one.entries {
		fmt.Fprintf(out.Stdout, "  - %s\n", plaintext.Line(entry))
	}
	if o.file != everyFile {
		return nil
	}
	name, err := repository.Git{}.WorkingFile(ctx, one.file)
	if err != nil {
		return err
	}
	return one.write(ctx, name, out)
}

// write adds the entries to a file of the working directory, which has to be as in HEAD: what it takes was decided on that.
func (a *addition) write(ctx context.Context, name string, out output.Streams) error {
	return editFile(ctx, name, a.key, out, func(found *approvalfile.File) ([]string, error) {
		missing := missingEntries(found.Approved(), slices.Concat(a.repeat, a.entries))
		if len(missing) == 0 {
			return nil, nil
		}
		return missing, repository.Git{}.SameAsHead(ctx, name)
	})
}

// missingEntries returns the entries that a list does not give: one with the same checksum and another note does, where the
// entry has none.
func missingEntries(approved, entries []string) []string {
	return slices.DeleteFunc(entries, func(entry string) bool {
		return slices.Contains(approved, entry) || !strings.Contains(entry, "#") && guard.Approves(approved, entry)
	})
}
