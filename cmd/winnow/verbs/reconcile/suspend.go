// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
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
	return t.Each(keys, func(key types.NamespacedName) error {
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
	})
}

// resumeOptions are the flags of winnow resume.
type resumeOptions struct{ targets }

// NewResume returns winnow resume.
func NewResume() *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use:   "resume NAME... | --all",
		Short: "Resume suspended CatalogSelections of a cluster",
		Long: "Resume suspended CatalogSelections of a cluster, wait until they are reconciled,\n" +
			"and print the results as winnow reconcile does. --all leaves out those that are\n" +
			"not suspended.\n\n" +
			"If Git has spec.suspend of a selection, Flux sets it again: resume in Git then.\n\n" +
			"Exit codes: 0 done, also if a change is held, 1 not ready, missing or not done\n" +
			"in time, 2 usage or no access.",
		Example: "  winnow resume applications -n flux-system",
		RunE:    o.Command(o.resume),
	}
	o.addFlags(cmd)
	return cmd
}

// resume resumes all selections before it waits for the first: one that is not Ready must not keep others suspended.
func (o *resumeOptions) resume(ctx context.Context, cluster *live.Cluster, names []string, out output.Streams) error {
	keys, err := o.keys(ctx, cluster, names, out.Notes, new(false))
	if err != nil {
		return err
	}
	r := &reconciliation{cluster: cluster, out: out}
	failed := o.Each(keys, func(key types.NamespacedName) error {
		s, err := cluster.Selection(ctx, key)
		if err != nil {
			return err
		}
		warnOfGit(out.Notes, s)
		request, err := cluster.Reconcile(ctx, key, true)
		if err == nil {
			r.started = append(r.started, startedSelection{key: key, wait: inBackground(func() (*live.Reconciled, error) { return cluster.Wait(ctx, request) })})
		}
		return err
	})
	return errors.Join(failed, r.report())
}
