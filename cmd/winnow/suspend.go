package main

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/live"
)

func newSuspendCommand() *cobra.Command {
	var o connection
	cmd := &cobra.Command{
		Use:   "suspend NAME...",
		Short: "Suspend CatalogSelections of a cluster",
		Long: "Suspend CatalogSelections of a cluster: neither the spec nor a source leads to a\n" +
			"new artifact, until winnow resume. The last artifact stays served, and Flux\n" +
			"continues to apply it. Bypassed definitions are still marked.\n\n" +
			"If Git has spec.suspend of a selection, Flux sets it again: suspend in Git then.\n\n" +
			"Exit codes: 0 done, 1 a NAME does not exist, 2 usage or no access.",
		Example: "  winnow suspend applications -n flux-system",
		Args:    arguments(1, math.MaxInt, "at least one NAME of a CatalogSelection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.on(cmd.Context(), func(ctx context.Context, cluster *live.Cluster) error {
				return o.each(args, func(key types.NamespacedName) error {
					return suspend(ctx, cluster, key, streams{cmd.OutOrStdout(), cmd.ErrOrStderr(), notes(cmd)})
				})
			})
		},
	}
	o.addFlags(cmd)
	cmd.ValidArgsFunction = o.completeLive(math.MaxInt)
	return cmd
}

func suspend(ctx context.Context, cluster *live.Cluster, key types.NamespacedName, out streams) error {
	s, err := cluster.Selection(ctx, key)
	if err != nil {
		return err
	}
	if s.Spec.Suspend {
		fmt.Fprintf(out.stdout, "%s: already suspended\n", key)
		return nil
	}
	warnOfGit(out.notes, s)
	if err := cluster.Suspend(ctx, key); err != nil {
		return err
	}
	fmt.Fprintf(out.stdout, "%s: suspended\n", key)
	return nil
}
