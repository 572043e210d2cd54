// SPDX-License-Identifier: Apache-2.0

// Package approve is winnow approve: it shows what a safeguard holds, and adds the approval to a file. It must not write to the cluster.
package approve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/diffview"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/clusterflags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/commits"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render/diff"
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

// everyFile is the value of --write without one.
const everyFile = "true"

// switching is the value of --git. It lets --write go without a value.
type switching struct {
	pflag.Value

	write *pflag.Flag
}

// Set is part of pflag.Value.
func (s *switching) Set(value string) error {
	s.write.NoOptDefVal = everyFile
	return s.Value.Set(value)
}

// commitOptions are the flags of --git.
type commitOptions struct {
	commits.Commits

	access flags.Access
}

// addFlags adds the flags. With --git, --write has no value. A flag cannot have one sometimes, so that --git comes first.
func (o *commitOptions) addFlags(cmd *cobra.Command, write *pflag.Flag) {
	o.AddFlags(cmd)
	o.access.AddFlags(cmd)
	git := cmd.Flags().Lookup("git")
	git.Value = &switching{Value: git.Value, write: write}
}

// run approves what two commits hold. write is the value of --write.
func (o *commitOptions) run(ctx context.Context, paths []string, write string, out output.Streams) error {
	if write != "" && write != everyFile {
		return fmt.Errorf("with --git, which comes first, --write has no value: %s is none of a flag", plaintext.Line(write))
	}
	report, err := o.Compare(ctx, paths, &o.access, nil)
	if err != nil {
		return output.Unusable(err)
	}
	failures := notCompared(report)
	added, byHand := additionsOf(report)
	if len(added)+len(byHand)+len(failures) == 0 {
		fmt.Fprintln(out.Stdout, "nothing is held that an approval would release")
	}
	for _, message := range report.Trips([]string{"held"}) {
		fmt.Fprintln(out.Stdout, plaintext.Wrap(plaintext.Line(message), ""))
	}
	for _, sentence := range diffview.Uses(report) {
		fmt.Fprintln(out.Stdout, plaintext.Wrap(sentence, ""))
	}
	for _, one := range added {
		one.print(out)
	}
	if write == everyFile && len(added) > 0 {
		prove := func(contents map[string][]byte) error {
			return o.ProveApprovals(ctx, report.To, paths, contents, neededBy(added))
		}
		if err := writeAt(ctx, report.To, added, prove, out); err != nil {
			failures = append(failures, err)
		}
	}
	if failures = append(failures, byHand...); len(failures) > 0 {
		return output.Finding(errors.Join(failures...))
	}
	return nil
}

// maxUncompared bounds the errors on what could not be compared.
const maxUncompared = 20

// notCompared returns an error for each reason why something could not be compared.
func notCompared(report *diff.Report) (failures []error) {
	var reasons []string
	places := map[string][]diff.Place{}
	for _, s := range report.Selections {
		for _, reason := range append(slices.Clone(s.Unknown), s.Error) {
			if reason != "" && places[reason] == nil {
				reasons = append(reasons, reason)
			}
			places[reason] = append(places[reason], s.Place())
		}
	}
	for i, reason := range reasons {
		reasons[i] = shown(places[reason]) + ": " + reason
	}
	for i, reason := range append(reasons, report.Unknown...) {
		if i == maxUncompared {
			return append(failures, errors.New("more is not compared, and so not approved: winnow diff shows all"))
		}
		failures = append(failures, fmt.Errorf("not compared, and so not approved: %s", reason))
	}
	return failures
}
