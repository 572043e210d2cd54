// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Holder is the Kustomization or selection that holds a live key:
//
//	the object                                  holder
//	is live, has owner labels, and is in the    that Kustomization, whatever its source
//	  inventory of the Kustomization in them
//	otherwise                                   the selection that reserved the key first
type Holder struct {
	// Kustomization is the one in the owner labels; empty for a reservation.
	Kustomization types.NamespacedName
	// Source is the source of the Kustomization, for messages.
	Source string
	// Selection and uid identify the selection whose artifact it applies; empty for another source, or for
	// a selection of another process.
	Selection types.NamespacedName
	UID       types.UID
}

func (h Holder) String() string {
	switch {
	case h.Kustomization.Name == "":
		return fmt.Sprintf("the CatalogSelection %s", h.Selection)
	case h.Selection.Name == "":
		return fmt.Sprintf("the Kustomization %s of the %s", h.Kustomization, h.Source)
	}
	return fmt.Sprintf("the CatalogSelection %s, by its Kustomization %s,", h.Selection, h.Kustomization)
}

// release returns how the holder lets go of its objects so that Flux deletes none of them. Between two selections, Winnow
// marks what moves.
func (h Holder) release() string {
	switch {
	case h.Selection.Name != "":
		return " there"
	case strings.HasPrefix(h.Source, sourcev1.ExternalArtifactKind+" "):
		return ", if nothing publishes that ExternalArtifact any more, set spec.deletionPolicy: Orphan on that Kustomization, " +
			"and delete it once that is in the cluster; without Orphan, Flux deletes the objects with it"
	}
	return " annotate them in that source with kustomize.toolkit.fluxcd.io/prune: disabled, and remove them from it once the live objects " +
		"have that; without it, Flux deletes the objects"
}

// ConflictError reports that other owners hold objects that a selection publishes, or is about to publish.
type ConflictError struct {
	first safeguard.Key
	by    Holder
	more  int
}

// Reason is the reason of the condition.
func (e *ConflictError) Reason() string { return v1alpha1.ConflictReason }

func (e *ConflictError) Error() string {
	more := ""
	if e.more > 0 {
		more = fmt.Sprintf(" and %d more", e.more)
	}
	what := "exclude them here, or" + e.by.release()
	name := e.first.FullName()
	if !e.first.IsDefinition() {
		name, what = e.first.Kind+" "+name, strings.ReplaceAll(what, "exclude", "rename or remove")
	}
	return fmt.Sprintf("%s holds %s%s as well; %s", e.by, name, more, what)
}

func conflict(held map[safeguard.Key]Holder) *ConflictError {
	e := &ConflictError{more: len(held) - 1}
	for key, h := range held {
		if e.first.Name == "" || strings.Compare(key.String(), e.first.String()) < 0 {
			e.first, e.by = key, h
		}
	}
	return e
}
