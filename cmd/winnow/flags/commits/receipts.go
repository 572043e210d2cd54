// SPDX-License-Identifier: Apache-2.0

package commits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/usage"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt/pulling"
	"github.com/winnow-dev/winnow/render/diff"
)

// Receipts is the flag of the verbs that say who uses what a change loses.
type Receipts struct{ address string }

// AddFlag adds the flag.
func (r *Receipts) AddFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.address, "receipts", "", "say who uses what is lost, by `ADDRESS`")
	flags.CompleteNothing(cmd, "receipts")
}

// Check returns an error for conditions that need the flag, and for the flag where no commits are compared.
func (r *Receipts) Check(failOn []string, comparesCommits bool) error {
	switch {
	case r.address == "" && slices.Contains(failOn, diff.UsedCondition):
		return errors.New("--fail-on used is for --receipts: pass both")
	case r.address != "" && !comparesCommits:
		return errors.New("--receipts is for --git")
	}
	return nil
}

// AddUses adds to a report who uses what the change loses, and what it deprecates: by the receipts of the clusters whose keys the
// older commit has, so that a change cannot choose who is asked.
func (r *Receipts) AddUses(ctx context.Context, access *flags.Access, report *diff.Report) error {
	if r.address == "" {
		return nil
	}
	below, err := access.ConnectBelow(ctx, r.address)
	if err != nil {
		return fmt.Errorf("--receipts: %w", err)
	}
	users, err := stages.UsersAt(ctx, repository.Git{}, report.From)
	if err != nil {
		return err
	}
	now := time.Now()
	questions := usage.Of(report, users)
	receipts, err := pulling.Pull(ctx, below, questions.Clusters, now, pulling.Timeout)
	report.Uses = questions.Answer(receipts, now)
	return err
}
