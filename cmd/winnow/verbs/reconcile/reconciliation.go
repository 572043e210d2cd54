// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
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
