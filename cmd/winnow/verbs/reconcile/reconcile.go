// SPDX-License-Identifier: Apache-2.0

// Package reconcile is winnow reconcile, suspend and resume: it requests reconciliations of a cluster, and waits for them. It must not know a catalog.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/flags/clusterflags"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
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

// targets are the selections that a verb works on: its arguments, or with --all the namespace's.
type targets struct {
	clusterflags.Connection

	// everywhere is --all for all namespaces, which only reconcile has.
	all, everywhere bool
}

func (t *targets) addFlags(cmd *cobra.Command) {
	t.AddFlags(cmd)
	cmd.Flags().BoolVar(&t.all, "all", false, "all selections of the namespace")
	cmd.ValidArgsFunction = t.CompleteLive(math.MaxInt)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		t.all = t.all || t.everywhere
		switch {
		case t.all && len(args) > 0:
			return fmt.Errorf("%s takes NAME or --all, not both", cmd.Name())
		case t.all:
			return nil
		case len(args) == 0:
			return fmt.Errorf("%s needs at least one NAME of a CatalogSelection, or --all", cmd.Name())
		}
		return nil
	}
}

// keys returns the selections of the arguments, or with --all the namespace's whose spec.suspend is not leftOut, which is nil
// for all.
func (t *targets) keys(ctx context.Context, cluster *live.Cluster, args []string, notes io.Writer, leftOut *bool) ([]types.NamespacedName, error) {
	if !t.all {
		return t.Keys(args), nil
	}
	in := t.Namespace
	if t.everywhere {
		in = ""
	}
	found, err := cluster.Selections(ctx, in, "")
	if err != nil {
		return nil, err
	}
	var keys []types.NamespacedName
	for _, s := range found {
		if leftOut == nil || s.Spec.Suspend != *leftOut {
			keys = append(keys, s.Key())
		}
	}
	state := map[bool]string{true: "suspended", false: "not suspended"}
	switch left := len(found) - len(keys); {
	case len(found) == 0 && t.everywhere:
		fmt.Fprintln(notes, "no CatalogSelections found")
	case len(found) == 0:
		fmt.Fprintf(notes, "no CatalogSelections found in namespace %s%s\n", t.Namespace, cluster.Elsewhere(ctx))
	case left > 0:
		fmt.Fprintf(notes, "%s left out: %s\n", plaintext.Count(left, "CatalogSelection"), state[*leftOut])
	}
	return keys, nil
}
