// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render/guard"
)

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
