package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/guard"
)

// reconcileOptions are the flags of winnow reconcile.
type reconcileOptions struct {
	connection

	withSource bool
}

func newReconcileCommand() *cobra.Command {
	var o reconcileOptions
	cmd := &cobra.Command{
		Use:   "reconcile NAME",
		Short: "Reconcile a CatalogSelection of a cluster now",
		Long: "Reconcile a CatalogSelection of a cluster now, wait until it is done, and print\n" +
			"the result: what is published, and what is held with the line that approves it.\n\n" +
			"--with-source reconciles its sources before, so that Flux pulls a new catalog.\n" +
			"An ExternalArtifact is left out: its controller knows no such request.\n\n" +
			"Exit codes: 0 done, also if a change is held, 1 not ready, suspended, missing or\n" +
			"not done in time, 2 usage or no access.",
		Example: "  winnow reconcile applications -n flux-system --with-source",
		Args:    arguments(1, 1, "one NAME of a CatalogSelection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.on(cmd.Context(), func(ctx context.Context, cluster *live.Cluster) error {
				return o.run(ctx, cluster, o.key(args[0]), streams{cmd.OutOrStdout(), cmd.ErrOrStderr(), notes(cmd)})
			})
		},
	}
	o.addFlags(cmd)
	cmd.Flags().BoolVar(&o.withSource, "with-source", false, "reconcile the sources before")
	cmd.ValidArgsFunction = o.completeLive(1)
	return cmd
}

func (o *reconcileOptions) run(ctx context.Context, cluster *live.Cluster, key types.NamespacedName, out streams) error {
	s, err := cluster.Selection(ctx, key)
	if err != nil {
		return err
	}
	if s.Spec.Suspend {
		return suspendedSelection(key)
	}
	var sources []*live.Reconciled
	if o.withSource {
		if sources, err = reconcileSources(ctx, cluster, s, out); err != nil {
			return err
		}
	}
	request, err := cluster.Reconcile(ctx, key, false)
	if err != nil {
		return err
	}
	request.Sources = sources
	return reportReconciled(ctx, cluster, request, out)
}

// reconcileSources requests the reconciliation of the sources of a selection, and waits for all.
func reconcileSources(ctx context.Context, cluster *live.Cluster, s *live.Selection, out streams) (all []*live.Reconciled, err error) {
	var requests []*live.Request
	requested := map[string]bool{}
	for _, ref := range s.Spec.Sources {
		kind, key := guard.SourceKey(s.CatalogSelection, ref)
		name := kind + " " + key.String()
		if requested[name] { // by another path
			continue
		}
		requested[name] = true
		request, err := cluster.ReconcileSource(ctx, kind, key)
		if err != nil {
			return nil, hintAtFlux(err)
		}
		if request == nil {
			fmt.Fprintf(out.notes, "%s: left out, its controller knows no requests\n", name)
			continue
		}
		requests = append(requests, request)
	}
	for _, request := range requests {
		done, err := awaitReconciled(ctx, cluster, request, out)
		if err != nil {
			return nil, err
		}
		if done.Ready.Status != metav1.ConditionTrue {
			return nil, notReady(done)
		}
		fmt.Fprintf(out.notes, "%s %s: %s\n", done.Kind, done.Key, plaintext.Line(done.Revision))
		all = append(all, done)
	}
	return all, nil
}

// hintAtFlux adds the way to resume a suspended source to an error.
func hintAtFlux(err error) error {
	var suspended *live.SuspendedError
	if !errors.As(err, &suspended) {
		return err
	}
	names := map[string]string{"OCIRepository": "oci", "GitRepository": "git", "Bucket": "bucket"}
	return fmt.Errorf("%w: flux resume source %s %s -n %s, or reconcile without --with-source",
		err, names[suspended.Kind], suspended.Key.Name, suspended.Key.Namespace)
}
