// SPDX-License-Identifier: Apache-2.0

package approve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/winnow-dev/winnow/cmd/winnow/diffview"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/commits"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
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

// commitOptions are the flags of --git.
type commitOptions struct {
	commits.Commits

	access flags.Access
}

// addFlags adds the flags. With --git, --write has no value. A flag cannot have one sometimes, so that --git comes first.
func (o *commitOptions) addFlags(cmd *cobra.Command, write *pflag.Flag) {
	o.AddFlags(cmd)
	o.access.AddFlags(cmd)
	git := cmd.Flags().Lookup("git")
	git.Value = &switching{Value: git.Value, write: write}
}

// run approves what two commits hold. write is the value of --write.
func (o *commitOptions) run(ctx context.Context, paths []string, write string, out output.Streams) error {
	if write != "" && write != everyFile {
		return fmt.Errorf("with --git, which comes first, --write has no value: %s is none of a flag", plaintext.Line(write))
	}
	report, err := o.Compare(ctx, paths, &o.access, nil)
	if err != nil {
		return output.Unusable(err)
	}
	failures := notCompared(report)
	added, byHand := additionsOf(report)
	if len(added)+len(byHand)+len(failures) == 0 {
		fmt.Fprintln(out.Stdout, "nothing is held that an approval would release")
	}
	for _, message := range report.Trips([]string{"held"}) {
		fmt.Fprintln(out.Stdout, plaintext.Wrap(plaintext.Line(message), ""))
	}
	for _, sentence := range diffview.Uses(report) {
		fmt.Fprintln(out.Stdout, plaintext.Wrap(sentence, ""))
	}
	for _, one := range added {
		one.print(out)
	}
	if write == everyFile && len(added) > 0 {
		prove := func(contents map[string][]byte) error {
			return o.ProveApprovals(ctx, report.To, paths, contents, neededBy(added))
		}
		if err := writeAt(ctx, report.To, added, prove, out); err != nil {
			failures = append(failures, err)
		}
	}
	if failures = append(failures, byHand...); len(failures) > 0 {
		return output.Finding(errors.Join(failures...))
	}
	return nil
}

// maxUncompared bounds the errors on what could not be compared.
const maxUncompared = 20

// notCompared returns an error for each reason why something could not be compared.
func notCompared(report *diff.Report) (failures []error) {
	var reasons []string
	places := map[string][]diff.Place{}
	for _, s := range report.Selections {
		for _, reason := range append(slices.Clone(s.Unknown), s.Error) {
			if reason != "" && places[reason] == nil {
				reasons = append(reasons, reason)
			}
			places[reason] = append(places[reason], s.Place())
		}
	}
	for i, reason := range reasons {
		reasons[i] = shown(places[reason]) + ": " + reason
	}
	for i, reason := range append(reasons, report.Unknown...) {
		if i == maxUncompared {
			return append(failures, errors.New("more is not compared, and so not approved: winnow diff shows all"))
		}
		failures = append(failures, fmt.Errorf("not compared, and so not approved: %s", reason))
	}
	return failures
}
