// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/flags/clusterflags"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

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
