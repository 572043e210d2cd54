// SPDX-License-Identifier: Apache-2.0

// Package reconcile is winnow reconcile, suspend and resume: it requests reconciliations of a cluster, and waits for them. It must not know a catalog.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/clusterflags"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/guard"
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
			suspended := &live.SuspendedError{Kind: v1alpha1.CatalogSelectionKind, Key: key}
			return fmt.Errorf("%w: winnow resume %s -n %s", suspended, key.Name, key.Namespace)
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
	kept := each.Where(found, func(s *live.Selection) bool { return leftOut == nil || s.Spec.Suspend != *leftOut })
	state := map[bool]string{true: "suspended", false: "not suspended"}
	switch left := len(found) - len(kept); {
	case len(found) == 0 && t.everywhere:
		fmt.Fprintln(notes, "no CatalogSelections found")
	case len(found) == 0:
		fmt.Fprintf(notes, "no CatalogSelections found in namespace %s%s\n", t.Namespace, cluster.Elsewhere(ctx))
	case left > 0:
		fmt.Fprintf(notes, "%s left out: %s\n", plaintext.Count(left, "CatalogSelection"), state[*leftOut])
	}
	return each.Map(kept, (*live.Selection).Key), nil
}

// reconciliation reconciles several selections, and requests each source once.
type reconciliation struct {
	cluster *live.Cluster
	out     output.Streams
	sources map[string]*sourceRequest
	started []startedSelection
}

// sourceRequest is a source, and what its request results in: nil for a kind that knows no requests.
type sourceRequest struct {
	name     string
	wait     func() (*live.Reconciled, error)
	reported bool
}

// startedSelection is a selection that is requested once its sources are reconciled.
type startedSelection struct {
	key     types.NamespacedName
	sources []*sourceRequest
	wait    func() (*live.Reconciled, error)
}

// request requests the reconciliation of the sources of a selection.
func (r *reconciliation) request(ctx context.Context, s *live.Selection) (all []*sourceRequest, err error) {
	for _, ref := range s.Spec.Sources {
		kind, key := guard.SourceKey(s.CatalogSelection, ref)
		name := kind + " " + key.String()
		if r.sources[name] == nil {
			request, err := r.cluster.ReconcileSource(ctx, kind, key)
			if err != nil {
				return nil, hintAtFlux(err)
			}
			r.sources[name] = &sourceRequest{name: name}
			if request == nil {
				fmt.Fprintf(r.out.Notes, "%s: left out, its controller knows no requests\n", name)
			} else {
				r.sources[name].wait = inBackground(func() (*live.Reconciled, error) { return r.cluster.Wait(ctx, request) })
			}
		}
		if r.sources[name].wait != nil {
			all = append(all, r.sources[name])
		}
	}
	return all, nil
}

// start requests the reconciliation of a selection once its sources are reconciled, and does not wait for it.
func (r *reconciliation) start(ctx context.Context, key types.NamespacedName, sources []*sourceRequest) {
	r.started = append(r.started, startedSelection{key, sources, inBackground(func() (*live.Reconciled, error) {
		var done []*live.Reconciled
		for _, source := range sources {
			reconciled, err := source.wait()
			if err == nil && reconciled.Ready.Status != metav1.ConditionTrue {
				err = notReady(reconciled)
			}
			if err != nil {
				return nil, err
			}
			done = append(done, reconciled)
		}
		request, err := r.cluster.Reconcile(ctx, key, false)
		if err != nil {
			return nil, err
		}
		request.Sources = done
		return r.cluster.Wait(ctx, request)
	})})
}

// inBackground starts do, and returns a function that waits for its results.
func inBackground(do func() (*live.Reconciled, error)) func() (*live.Reconciled, error) {
	ended := make(chan struct{})
	var done *live.Reconciled
	var err error
	go func() {
		defer close(ended)
		done, err = do()
	}()
	return sync.OnceValues(func() (*live.Reconciled, error) {
		<-ended
		return done, err
	})
}

// report waits for the selections in their order, and prints the result of each.
func (r *reconciliation) report() (failed error) {
	for _, s := range r.started {
		for _, source := range s.sources {
			done, err := awaitShown(source.name, r.out, source.wait)
			if err != nil || done.Ready.Status != metav1.ConditionTrue {
				break // the selection has the error
			}
			if !source.reported {
				fmt.Fprintf(r.out.Notes, "%s: %s\n", source.name, plaintext.Line(done.Revision))
			}
			source.reported = true
		}
		done, err := awaitShown("CatalogSelection "+s.key.String(), r.out, s.wait)
		if err == nil {
			err = reportReconciled(done, r.out)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// hintAtFlux adds the way to resume a suspended source to an error.
func hintAtFlux(err error) error {
	suspended, ok := errors.AsType[*live.SuspendedError](err)
	if !ok {
		return err
	}
	names := map[string]string{"OCIRepository": "oci", "GitRepository": "git", "Bucket": "bucket"}
	return fmt.Errorf("%w: flux resume source %s %s -n %s, or reconcile without --with-source",
		err, names[suspended.Kind], suspended.Key.Name, suspended.Key.Namespace)
}

// awaitShown waits for an object, and shows on a terminal what it waits for.
func awaitShown(what string, out output.Streams, wait func() (*live.Reconciled, error)) (*live.Reconciled, error) {
	p := output.NewProgress(out.Notes)
	defer p.Clear()
	p.Step("waiting for " + what)
	return wait()
}

// reportReconciled prints the result of a selection. It returns a *output.FindingError if the selection is not Ready.
func reportReconciled(done *live.Reconciled, out output.Streams) error {
	s, err := done.Selection()
	if err != nil {
		return err
	}
	ready := done.Ready.Status == metav1.ConditionTrue
	if ready {
		fmt.Fprintln(out.Stdout, plaintext.Wrap(s.Key().String()+": "+done.Ready.Message, ""))
		for _, source := range s.Status.Sources {
			fmt.Fprintf(out.Stdout, "  %s\n", plaintext.Line(fmt.Sprintf("published from %s %s/%s at %s", source.Kind, source.Namespace, source.Name, source.Revision)))
		}
	}
	if s.Status.Held != nil {
		report.PrintHeld(out.Stdout, s.CatalogSelection)
	}
	if !ready {
		return notReady(done)
	}
	return nil
}

// notReady returns the error of an object whose controller reports a failure.
func notReady(done *live.Reconciled) error {
	return output.Finding(fmt.Errorf("%s %s is not ready: %s: %s", done.Kind, done.Key,
		plaintext.Line(done.Ready.Reason), plaintext.Line(done.Ready.Message)))
}

// warnOfGit prints a warning where a Kustomization applies the selection.
func warnOfGit(w io.Writer, s *live.Selection) {
	if owner := guard.OwnerOf(s.Object); owner.Name != "" {
		fmt.Fprintln(w, plaintext.Wrap(fmt.Sprintf("warning: the Kustomization %s applies this selection: if Git has "+
			"spec.suspend, Flux sets it again, so change it in Git", owner), ""))
	}
}
