// SPDX-License-Identifier: Apache-2.0

package holders

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Holder has an object: it is the Kustomization in the owner labels of the live object, if its inventory has the object, or else a
// selection that claims the object. A release can have a HelmRelease of neither.
type Holder struct {
	// HelmRelease is the object that has a release; empty for all else.
	HelmRelease safeguard.Key
	// Kustomization is the one in the owner labels; empty for a claim.
	Kustomization types.NamespacedName
	// Source is the source of the Kustomization, for messages.
	Source string
	// Selection is the name of the selection; empty for a Kustomization of another source.
	Selection types.NamespacedName
}

func (h Holder) String() string {
	switch {
	case h.HelmRelease.Name != "" && h.Kustomization.Name != "":
		return fmt.Sprintf("the HelmRelease %s of the Kustomization %s", h.HelmRelease.FullName(), h.Kustomization)
	case h.HelmRelease.Name != "":
		return fmt.Sprintf("the HelmRelease %s, which no Kustomization has applied,", h.HelmRelease.FullName())
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
	case h.HelmRelease.Name != "":
		return " suspend that HelmRelease where it is written, and delete it once it is suspended in the cluster: helm-controller uninstalls nothing then"
	case h.Selection.Name != "":
		return " there"
	case strings.HasPrefix(h.Source, sourcev1.ExternalArtifactKind+" "):
		return ", if nothing publishes that ExternalArtifact any more, set spec.deletionPolicy: Orphan on that Kustomization, " +
			"and delete it once that is in the cluster; without Orphan, Flux deletes the objects with it"
	}
	return " annotate them in that source with kustomize.toolkit.fluxcd.io/prune: disabled, wait until the live objects " +
		"have it, and remove them from that source; without the annotation, Flux deletes them"
}

// ConflictError reports that other owners hold objects that a selection publishes, or is about to publish.
type ConflictError struct {
	keys inventory.Keys
	// all are the objects of the first holder, sorted; others is the number of objects of other holders.
	all    []safeguard.Key
	by     Holder
	others int
	// foreign is true if one of the owners is no selection.
	foreign bool
}

// Has reports whether one of the objects is among keys.
func (e *ConflictError) Has(keys inventory.Keys) bool { return inventory.Overlap(e.keys, keys) }

// Reason is the reason of the condition.
func (e *ConflictError) Reason() string { return v1alpha1.ConflictReason }

// maxNamed bounds the objects in a message.
const maxNamed = 10

func (e *ConflictError) Error() string {
	what, release := "rename or remove them", e.by.release()
	if e.all[0].IsDefinition() {
		what = "exclude them by spec.exclude"
		if e.by.Selection.Name != "" {
			release += " to move them here; nothing is deleted"
		}
	}
	others := ""
	if e.others > 0 {
		others = fmt.Sprintf(", and others hold %d more", e.others)
	}
	return fmt.Sprintf("%s holds %s as well%s; %s here, or%s", e.by, excerpt.List(e.all, maxNamed, nameOf), others, what, release)
}

func nameOf(key safeguard.Key) string {
	if key.IsDefinition() {
		return key.FullName()
	}
	return key.Kind + " " + key.FullName()
}

func conflict(held map[safeguard.Key]Holder) *ConflictError {
	e := &ConflictError{keys: inventory.Keys{}}
	for _, key := range slices.SortedFunc(maps.Keys(held), inventory.Compare) {
		h := held[key]
		if len(e.all) == 0 {
			e.by = h
		}
		e.keys[key], e.foreign = true, e.foreign || h.Selection.Name == ""
		if h == e.by {
			e.all = append(e.all, key)
		} else {
			e.others++
		}
	}
	return e
}
