// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// NewSuspend returns winnow suspend.
func NewSuspend() *cobra.Command {
	var o targets
	cmd := &cobra.Command{
		Use:   "suspend NAME... | --all",
		Short: "Suspend CatalogSelections of a cluster",
		Long: "Suspend CatalogSelections of a cluster: neither the spec nor a source leads to a\n" +
			"new artifact, until winnow resume. The last artifact stays served, and Flux\n" +
			"continues to apply it. Bypassed definitions are still marked.\n\n" +
			"If Git has spec.suspend of a selection, Flux sets it again: suspend in Git then.\n\n" +
			"Exit codes: 0 done, 1 a NAME does not exist, 2 usage or no access.",
		Example: "  winnow suspend applications -n flux-system",
		RunE:    o.Command(o.suspend),
	}
	o.addFlags(cmd)
	return cmd
}

func (t *targets) suspend(ctx context.Context, cluster *live.Cluster, names []string, out output.Streams) error {
	keys, err := t.keys(ctx, cluster, names, out.Notes, nil)
	if err != nil {
		return err
	}
	return t.Each(keys, func(key types.NamespacedName) error { return suspend(ctx, cluster, key, out) })
}

func suspend(ctx context.Context, cluster *live.Cluster, key types.NamespacedName, out output.Streams) error {
	s, err := cluster.Selection(ctx, key)
	if err != nil {
		return err
	}
	if s.Spec.Suspend {
		fmt.Fprintf(out.Stdout, "%s: already suspended\n", key)
		return nil
	}
	warnOfGit(out.Notes, s)
	if err := cluster.Suspend(ctx, key); err != nil {
		return err
	}
	fmt.Fprintf(out.Stdout, "%s: suspended\n", key)
	return nil
}
