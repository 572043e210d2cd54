package main

import (
	"context"
	"errors"
	"math"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/live"
)

// resumeOptions are the flags of winnow resume.
type resumeOptions struct{ connection }

func newResumeCommand() *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use:   "resume NAME...",
		Short: "Resume suspended CatalogSelections of a cluster",
		Long: "Resume suspended CatalogSelections of a cluster, wait until they are reconciled,\n" +
			"and print the results as winnow reconcile does.\n\n" +
			"If Git has spec.suspend of a selection, Flux sets it again: resume in Git then.\n\n" +
			"Exit codes: 0 done, also if a change is held, 1 not ready, missing or not done\n" +
			"in time, 2 usage or no access.",
		Example: "  winnow resume applications -n flux-system",
		Args:    arguments(1, math.MaxInt, "at least one NAME of a CatalogSelection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.on(cmd.Context(), func(ctx context.Context, cluster *live.Cluster) error {
				return o.resume(ctx, cluster, args, streams{cmd.OutOrStdout(), cmd.ErrOrStderr(), notes(cmd)})
			})
		},
	}
	o.addFlags(cmd)
	cmd.ValidArgsFunction = o.completeLive(math.MaxInt)
	return cmd
}

// resume resumes all selections before it waits for the first: one that is not Ready must not keep others suspended.
func (o *resumeOptions) resume(ctx context.Context, cluster *live.Cluster, names []string, out streams) error {
	var requests []*live.Request
	failed := o.each(names, func(key types.NamespacedName) error {
		s, err := cluster.Selection(ctx, key)
		if err != nil {
			return err
		}
		warnOfGit(out.notes, s)
		request, err := cluster.Reconcile(ctx, key, true)
		if err == nil {
			requests = append(requests, request)
		}
		return err
	})
	for _, request := range requests {
		failed = errors.Join(failed, reportReconciled(ctx, cluster, request, out))
	}
	return failed
}
