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

	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// everyFile is the value of --write without one.
const everyFile = "true"

// maxPlaces bounds the selections that a line names.
const maxPlaces = 10

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

// addition is what a file takes for a selection.
type addition struct {
	file string
	key  types.NamespacedName
	// entries are to be added, behind those of a base that the list in the file replaces.
	repeat, entries []string
	// places need the entries.
	places []diff.Place
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
	for _, message := range report.Trips([]string{"held"}) {
		fmt.Fprintln(out.Stdout, plaintext.Wrap(plaintext.Line(message), ""))
	}
	for _, one := range added {
		one.print(out)
	}
	if o.file == everyFile && len(added) > 0 {
		if err := o.write(ctx, report.To, paths, added, out); err != nil {
			failures = append(failures, err)
		}
	}
	if failures = append(failures, byHand...); len(failures) > 0 {
		return output.Finding(errors.Join(failures...))
	}
	return nil
}

// additionsOf returns what files take, in the order of the report, and an error for the approvals that no file takes.
func additionsOf(report *diff.Report) (added []*addition, byHand []error) {
	var withoutFile []*addition
	for _, s := range report.Selections {
		if s.Held == nil || s.Held.Approved || len(s.Held.Approve) == 0 {
			continue
		}
		one := &addition{file: s.Held.File, key: types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, repeat: s.Held.Repeat, entries: s.Held.Approve}
		all := &added
		if one.file == "" {
			all, one.file = &withoutFile, s.Held.Advice
		}
		i := slices.IndexFunc(*all, one.isLike)
		if i < 0 {
			i, *all = len(*all), append(*all, one)
		}
		(*all)[i].places = append((*all)[i].places, s.Place())
	}
	for _, one := range withoutFile {
		byHand = append(byHand, fmt.Errorf("%s: not approved: %s: %s", one.shownPlaces(), strings.Join(one.entries, ", "), one.file))
	}
	return added, byHand
}

func (a *addition) isLike(other *addition) bool {
	return other.file == a.file && other.key == a.key && slices.Equal(other.entries, a.entries) && slices.Equal(other.repeat, a.repeat)
}

func (a *addition) shownPlaces() string {
	return excerpt.List(a.places, maxPlaces, func(p diff.Place) string { return strings.TrimPrefix(p.Cluster+" "+p.Namespace+"/"+p.Name, " ") })
}

// print prints what the file takes.
func (a *addition) print(out output.Streams) {
	fmt.Fprintln(out.Stdout, plaintext.Wrap(plaintext.Line(a.file+": for "+a.shownPlaces()), ""))
	for _, entry := range a.repeat {
		fmt.Fprintf(out.Stdout, "  - %s # of the base, whose list this one replaces\n", plaintext.Line(entry))
	}
	for _, entry := range a.entries {
		fmt.Fprintf(out.Stdout, "  - %s\n", plaintext.Line(entry))
	}
}
