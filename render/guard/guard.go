package guard

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Published is what a new render is compared with.
type Published struct {
	// Spec that was rendered, as RenderedSpec returns it.
	Spec v1alpha1.CatalogSelectionSpec
	// Definitions in the artifact; none before the first publication.
	Definitions []safeguard.Definition
	// Known is what is recorded of the catalogs of that time.
	Known render.Known
	// Sources returns the sources of that time. It is asked only where both spec and catalogs may
	// have changed something; an error says that they are not to be had, and so does nil.
	Sources func(context.Context) ([]Source, error)
}

// Verdict is what was found about a new render. Every list is part of the one before.
type Verdict struct {
	// Changes are all that is lost, or jumps.
	Changes []safeguard.Change
	// ByCatalog are the changes that an edit of the spec does not explain. Adoptions are among
	// them, whoever made the definition enter, and names of the edit that match nothing.
	ByCatalog []safeguard.Change
	// Held are those that the safeguards hold, unless they are approved.
	Held []safeguard.Change
}

// Next is what is about to be published.
type Next struct {
	Selection *v1alpha1.CatalogSelection
	Sources   []Source
	Result    *render.Result
	// Adopted is what live definitions lose that were not published.
	Adopted []safeguard.Change
}

// Decide compares what is about to be published with what was.
func Decide(ctx context.Context, last Published, next Next) Verdict {
	changes := safeguard.Compare(last.Definitions, next.Result.Definitions)
	others := slices.Concat(next.Adopted, unknownNames(ctx, last, next, changes))
	v := Verdict{Changes: slices.Concat(changes, others)}
	if len(changes) > 0 {
		changes = byCatalog(ctx, last, next, changes)
	}
	v.ByCatalog = slices.Concat(changes, others)
	for _, change := range v.ByCatalog {
		if Holds(next.Selection.Spec.Safeguards, change.Reason) {
			v.Held = append(v.Held, change)
		}
	}
	return v
}

// Holds says whether a safeguard holds changes with the reason. What the API server defaults may
// be empty, in a spec that it has not seen.
func Holds(s v1alpha1.Safeguards, reason string) bool {
	switch reason {
	case v1alpha1.RemovalReason:
		return s.OnRemoval != v1alpha1.SafeguardPublish
	case v1alpha1.VersionRemovalReason, v1alpha1.AdoptionReason:
		return s.OnVersionRemoval != v1alpha1.SafeguardPublish
	case v1alpha1.IdentityChangeReason:
		return s.OnIdentityChange != v1alpha1.SafeguardPublish
	case v1alpha1.SourceChangeReason:
		return s.OnSourceChange == v1alpha1.SafeguardHold
	case v1alpha1.MajorUpgradeReason:
		return s.OnMajorUpgrade == v1alpha1.SafeguardHold
	}
	return true
}

// RenderedSpec is the spec without the members that change nothing of the artifact's objects, such
// as approvals. While the rest is the same, every change is the catalog's.
func RenderedSpec(cs *v1alpha1.CatalogSelection) v1alpha1.CatalogSelectionSpec {
	spec := *cs.Spec.DeepCopy()
	spec.Interval = metav1.Duration{}
	spec.Suspend = false
	spec.ServiceAccountName = ""
	spec.Safeguards = v1alpha1.Safeguards{OnEmpty: spec.Safeguards.OnEmpty}
	spec.Cluster = v1alpha1.Cluster{}
	spec.Push = nil
	for i := range spec.Sources {
		spec.Sources[i].RequireVerified = false
	}
	return spec
}
