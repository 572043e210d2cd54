// SPDX-License-Identifier: Apache-2.0

// Package approve is winnow approve: it shows what a safeguard holds, and adds the approval to a file. It must not write to the cluster.
package approve

import (
	"context"
	"errors"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/spf13/cobra"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/clusterflags"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
)

// approveOptions are the flags of winnow approve.
type approveOptions struct {
	clusterflags.Connection

	file string
	// commits are the flags of --git, with which write has no value.
	commits commitOptions
}

// New returns winnow approve.
func New() *cobra.Command {
	var o approveOptions
	cmd := &cobra.Command{
		Use:   "approve NAME | --git BASE..HEAD [PATH...]",
		Short: "Show what a safeguard holds, and add its lines to a file of Git",
		Long: "Show what a safeguard holds of a CatalogSelection in a cluster, and the lines\n" +
			"that name it, for spec.safeguards.approve: argocd, or argocd/2.13.0.\n\n" +
			"--write adds them to the CatalogSelection in FILE, for a pull request, and keeps\n" +
			"all other bytes of it. It writes no file that has the selection several times or\n" +
			"encrypted by SOPS, and no link. It never writes to the cluster.\n\n" +
			"With --git BASE..HEAD [PATH...], it shows the lines that winnow diff --git\n" +
			"prints. --write then has no FILE, and adds the lines to files of the working\n" +
			"directory. If all clusters of a selection's file need the same lines, that file\n" +
			"gets them; otherwise the kustomization.yaml of an overlay gets a patch. A\n" +
			"promotion gets an annotation in the file that has the digest. Before it writes,\n" +
			"it builds the commit with the lines: they must reach what needs them, and no\n" +
			"more.\n\n" +
			"Exit codes: 0 done, or nothing is held; 1 the controller has not decided yet, no\n" +
			"line can approve it, FILE lacks the selection, or with --git something could not\n" +
			"be compared; 2 usage or no access.",
		Example: "  winnow approve applications -n flux-system\n" +
			"  winnow approve applications -n flux-system --write clusters/a/selection.yaml\n\n" +
			"  # what a pull request holds, in all clusters\n" +
			"  winnow approve --git origin/main...HEAD --write",
		Args: func(cmd *cobra.Command, args []string) error {
			if o.commits.Git != "" {
				return nil
			}
			return flags.Arguments(1, 1, "one NAME of a CatalogSelection")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.commits.Git != "" {
				return o.commits.run(cmd.Context(), args, o.file, flags.StreamsOf(cmd))
			}
			if err := o.commits.Check(nil, false); err != nil {
				return err
			}
			if len(o.commits.Repositories) > 0 {
				return errors.New("--repository is for --git")
			}
			if cmd.Flags().Changed("write") && o.file == "" { // a variable of a script that is not set
				return errors.New("--write takes a FILE, and got none")
			}
			return o.On(cmd.Context(), func(ctx context.Context, cluster *live.Cluster) error {
				return o.run(ctx, cluster, o.Key(args[0]), flags.StreamsOf(cmd))
			})
		},
	}
	o.AddFlags(cmd)
	cmd.Flags().StringVar(&o.file, "write", "", "add the lines to the selection in `FILE`")
	flags.CompleteFiles(cmd, "write")
	o.commits.addFlags(cmd, cmd.Flags().Lookup("write"))
	cmd.ValidArgsFunction = o.CompleteLive(1)
	return cmd
}

func (o *approveOptions) run(ctx context.Context, cluster *live.Cluster, key types.NamespacedName, out output.Streams) error {
	s, err := cluster.Selection(ctx, key)
	if err != nil {
		return err
	}
	held := apimeta.FindStatusCondition(s.Status.Conditions, v1alpha1.HeldCondition)
	earlier, undecided := "", "" // why what is held, or that nothing is, says nothing about this spec
	switch {
	case s.Status.ObservedGeneration < s.Generation:
		undecided = fmt.Sprintf("the status is of an older spec: run winnow reconcile %s -n %s", key.Name, key.Namespace)
	case held != nil && held.Status == metav1.ConditionUnknown:
		earlier, undecided = "what is held is of an earlier spec: ", plaintext.Line(held.Message)
	}
	switch {
	case s.Status.Held != nil && undecided != "":
		fmt.Fprintln(out.Notes, plaintext.Wrap("warning: "+earlier+undecided, ""))
	case s.Status.Held != nil:
	case held != nil && held.Status == metav1.ConditionTrue: // the API server drops fields that the CRD does not have
		return output.Finding(fmt.Errorf("%s: status.held is missing, and the condition Held is True: %s: %s: install the CRD of this version",
			key, plaintext.Line(held.Reason), plaintext.Line(held.Message)))
	case undecided != "":
		return output.Finding(fmt.Errorf("%s: it is not decided yet whether something is held: %s", key, undecided))
	default:
		fmt.Fprintln(out.Stdout, plaintext.Wrap(fmt.Sprintf("%s: nothing is held%s", key, failureOf(s.CatalogSelection)), ""))
		return nil
	}
	report.PrintHeld(out.Stdout, s.CatalogSelection)
	switch {
	case len(s.Status.Held.Approve) == 0:
		return output.Finding(fmt.Errorf("%s: what is held cannot be approved", key))
	case o.file == "":
		return nil
	}
	return approveInFile(ctx, o.file, s.CatalogSelection, out)
}

// failureOf returns why nothing new is published although nothing is held; empty if Ready is not False.
func failureOf(cs *v1alpha1.CatalogSelection) string {
	ready := apimeta.FindStatusCondition(cs.Status.Conditions, meta.ReadyCondition)
	if ready == nil || ready.Status != metav1.ConditionFalse {
		return ""
	}
	return fmt.Sprintf(", but Ready is False: %s: %s", plaintext.Line(ready.Reason), plaintext.Line(ready.Message))
}
