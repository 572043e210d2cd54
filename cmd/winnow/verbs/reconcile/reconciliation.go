// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render/guard"
)

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
	var suspended *live.SuspendedError
	if !errors.As(err, &suspended) {
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

// suspendedSelection returns the error of a selection that is suspended.
func suspendedSelection(key types.NamespacedName) error {
	return fmt.Errorf("%w: winnow resume %s -n %s", &live.SuspendedError{Kind: v1alpha1.CatalogSelectionKind, Key: key}, key.Name, key.Namespace)
}
