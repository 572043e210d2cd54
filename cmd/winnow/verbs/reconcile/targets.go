// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/flags/clusterflags"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// targets are the selections that a verb works on: those of its arguments, or with --all those of the namespace.
type targets struct {
	clusterflags.Connection

	all bool
}

func (t *targets) addFlags(cmd *cobra.Command) {
	t.AddFlags(cmd)
	cmd.Flags().BoolVar(&t.all, "all", false, "all selections of the namespace")
	cmd.ValidArgsFunction = t.CompleteLive(math.MaxInt)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
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

// names returns the names of the arguments, or with --all those of the selections of the namespace whose spec.suspend is
// not leftOut, which is nil for all.
func (t *targets) names(ctx context.Context, cluster *live.Cluster, args []string, notes io.Writer, leftOut *bool) ([]string, error) {
	if !t.all {
		return args, nil
	}
	found, err := cluster.Selections(ctx, t.Namespace, "")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range found {
		if leftOut == nil || s.Spec.Suspend != *leftOut {
			names = append(names, s.Name)
		}
	}
	state := map[bool]string{true: "suspended", false: "not suspended"}
	switch left := len(found) - len(names); {
	case len(found) == 0:
		fmt.Fprintf(notes, "no CatalogSelections found in namespace %s\n", t.Namespace)
	case left > 0:
		fmt.Fprintf(notes, "%s left out: %s\n", plaintext.Count(left, "CatalogSelection"), state[*leftOut])
	}
	return names, nil
}
