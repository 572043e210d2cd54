package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// approveOptions are the flags of winnow approve.
type approveOptions struct {
	connection

	file string
}

func newApproveCommand() *cobra.Command {
	var o approveOptions
	cmd := &cobra.Command{
		Use:   "approve NAME",
		Short: "Show what a safeguard holds, and add its approval to a file of Git",
		Long: "Show what a safeguard holds of a CatalogSelection in a cluster, and the lines\n" +
			"that approve it: spec.safeguards.approve with the entries of status.held.\n\n" +
			"--write adds them to the CatalogSelection in FILE, for a pull request, and keeps\n" +
			"all other bytes of it. It writes no file that has the selection several times or\n" +
			"encrypted by SOPS, and no link. It never writes to the cluster.\n\n" +
			"Exit codes: 0 done, or nothing is held, 1 it cannot be approved, or not in FILE,\n" +
			"2 usage or no access.",
		Example: "  winnow approve applications -n flux-system\n" +
			"  winnow approve applications -n flux-system --write clusters/a/selection.yaml",
		Args: arguments(1, 1, "one NAME of a CatalogSelection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("write") && o.file == "" { // a variable of a script that is not set
				return errors.New("--write takes a FILE, and got none")
			}
			return o.on(cmd.Context(), func(ctx context.Context, cluster *live.Cluster) error {
				return o.run(ctx, cluster, o.key(args[0]), streams{cmd.OutOrStdout(), cmd.ErrOrStderr(), notes(cmd)})
			})
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.file, "write", "", "add the lines to the selection in `FILE`")
	completeFiles(cmd, "write")
	cmd.ValidArgsFunction = o.completeLive(1)
	return cmd
}

func (o *approveOptions) run(ctx context.Context, cluster *live.Cluster, key types.NamespacedName, out streams) error {
	s, err := cluster.Selection(ctx, key)
	if err != nil {
		return err
	}
	if s.Status.ObservedGeneration < s.Generation {
		fmt.Fprintln(out.notes, plaintext.Wrap(fmt.Sprintf("warning: the status is of an older spec: run winnow reconcile %s -n %s", key.Name, key.Namespace), ""))
	}
	switch held := apimeta.FindStatusCondition(s.Status.Conditions, v1alpha1.HeldCondition); {
	case s.Status.Held != nil:
	case held != nil && held.Status == metav1.ConditionTrue: // the API server drops fields that the CRD does not have
		return &findingError{fmt.Errorf("%s: status.held is missing, and the condition Held is True: %s: %s: install the CRD of this version",
			key, plaintext.Line(held.Reason), plaintext.Line(held.Message))}
	default:
		fmt.Fprintf(out.stdout, "%s: nothing is held\n", key)
		return nil
	}
	printHeld(out.stdout, s.CatalogSelection)
	switch {
	case len(s.Status.Held.Approve) == 0:
		return &findingError{fmt.Errorf("%s: what is held cannot be approved", key)}
	case o.file == "":
		return nil
	}
	return approveInFile(ctx, o.file, s.CatalogSelection, out)
}
