package controllers

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// attempt is one reconciliation, and what it finds out on the way.
type attempt struct {
	start time.Time
	// names are known once something was rendered.
	names *unmatchedNames
}

// unmatchedNames are the names in the spec that match nothing.
type unmatchedNames struct{ unmatched []render.Unmatched }

// found notes what a render found out about names. That of an empty selection, which is refused, is
// the one that they explain.
func (a *attempt) found(result *render.Result, err error, loaded []loadedSource, opts render.Options) {
	switch {
	case err == nil:
		a.names = &unmatchedNames{result.Unmatched}
	case reasonOf(err) == v1alpha1.EmptyResultReason:
		a.names = &unmatchedNames{render.UnmatchedOf(selectionSources(loaded), opts)}
	}
}

// condition is Unmatched without its type, nil where everything matches.
func (n *unmatchedNames) condition() *metav1.Condition {
	const listed = 20
	if len(n.unmatched) == 0 {
		return nil
	}
	message := "nothing in the catalogs matches " + excerpt.List(n.unmatched, listed, render.Unmatched.String)
	return &metav1.Condition{
		Status: metav1.ConditionTrue, Reason: v1alpha1.NoMatchReason, Message: bounds.Truncate(message, bounds.ConditionMessage),
	}
}
