// SPDX-License-Identifier: Apache-2.0

// Package reconcile is winnow reconcile, suspend and resume: it requests reconciliations of a cluster, and waits for them. It must not know a catalog.
package reconcile

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// reconcileOptions are the flags of winnow reconcile.
type reconcileOptions struct {
	targets

	withSource bool
}

// New returns winnow reconcile.
func New() *cobra.Command {
	var o reconcileOptions
	cmd := &cobra.Command{
		Use:   "reconcile NAME... | --all | -A",
		Short: "Reconcile CatalogSelections of a cluster now",
		Long: "Reconcile CatalogSelections of a cluster now, wait until it is done, and print\n" +
			"the results: what is published, and what is held with the line that approves it.\n" +
			"All are requested before the first is awaited. --all leaves out those that are\n" +
			"suspended.\n\n" +
			"--with-source reconciles their sources before, so that Flux pulls a new catalog.\n" +
			"An ExternalArtifact is left out: its controller knows no such request.\n\n" +
			"Exit codes: 0 done, also if a change is held, 1 not ready, suspended, missing or\n" +
			"not done in time, 2 usage or no access.",
		Example: "  winnow reconcile applications -n flux-system --with-source\n" +
			"  winnow reconcile --all -n flux-system",
		RunE: o.Command(o.run),
	}
	o.addFlags(cmd)
	cmd.Flags().BoolVarP(&o.everywhere, "all-namespaces", "A", false, "all selections of all namespaces")
	cmd.Flags().BoolVar(&o.withSource, "with-source", false, "reconcile the sources before")
	return cmd
}

func (o *reconcileOptions) run(ctx context.Context, cluster *live.Cluster, args []string, out output.Streams) error {
	keys, err := o.keys(ctx, cluster, args, out.Notes, new(true))
	if err != nil {
		return err
	}
	r := &reconciliation{cluster: cluster, out: out, sources: map[string]*sourceRequest{}}
	failed := o.Each(keys, func(key types.NamespacedName) error {
		s, err := cluster.Selection(ctx, key)
		switch {
		case err != nil:
			return err
		case s.Spec.Suspend:
			return suspendedSelection(key)
		}
		var sources []*sourceRequest
		if o.withSource {
			if sources, err = r.request(ctx, s); err != nil {
				return err
			}
		}
		r.start(ctx, key, sources)
		return nil
	})
	return errors.Join(failed, r.report())
}
