package main

import (
	"context"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/guard"
)

// awaitReconciled waits until the request is handled, and shows on a terminal what it waits for.
func awaitReconciled(ctx context.Context, cluster *live.Cluster, request *live.Request, out streams) (*live.Reconciled, error) {
	shown := newProgress(out.notes)
	defer shown.clear()
	shown.step(fmt.Sprintf("waiting for %s %s", request.Kind, request.Key))
	return cluster.Wait(ctx, request)
}

// reportReconciled waits until a selection is reconciled and prints the result. It returns a *findingError if the
// selection is not Ready.
func reportReconciled(ctx context.Context, cluster *live.Cluster, request *live.Request, out streams) error {
	done, err := awaitReconciled(ctx, cluster, request, out)
	if err != nil {
		return err
	}
	s, err := done.Selection()
	if err != nil {
		return err
	}
	ready := done.Ready.Status == metav1.ConditionTrue
	if ready {
		fmt.Fprintln(out.stdout, plaintext.Wrap(s.Key().String()+": "+done.Ready.Message, ""))
		for _, source := range s.Status.Sources {
			fmt.Fprintf(out.stdout, "  %s\n", plaintext.Line(fmt.Sprintf("%s %s/%s at %s", source.Kind, source.Namespace, source.Name, source.Revision)))
		}
	}
	if s.Status.Held != nil {
		printHeld(out.stdout, s.CatalogSelection)
	}
	if !ready {
		return notReady(done)
	}
	return nil
}

// notReady returns the error of an object whose controller reports a failure.
func notReady(done *live.Reconciled) error {
	return &findingError{fmt.Errorf("%s %s is not ready: %s: %s", done.Kind, done.Key,
		plaintext.Line(done.Ready.Reason), plaintext.Line(done.Ready.Message))}
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
