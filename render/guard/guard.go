package guard

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Published is what a new render is compared with.
type Published struct {
	// Spec that was rendered, as RenderedSpec returns it; nil where it is not known.
	Spec *v1alpha1.CatalogSelectionSpec
	// Definitions in the artifact; none before the first publication.
	Definitions []safeguard.Definition
	// Sources are what selection reads of the published applications, in the order of the spec; nil
	// where that was too large to be recorded.
	Sources []RecordedSource
	// Older is true for a record that knows no Sources yet: it holds nothing that an edit may have made.
	Older bool
}

// Next is what is about to be published.
type Next struct {
	Selection *v1alpha1.CatalogSelection
	Sources   []Source
	Result    *render.Result
	// Adopted is what live definitions lose that were not published.
	Adopted []safeguard.Change
	// Pruned is what Kustomizations would delete that have applied something else.
	Pruned []safeguard.Change
}

// Verdict is what was found about a new render. Every list is part of the one before.
type Verdict struct {
	// Changes are all that is lost, or jumps.
	Changes []safeguard.Change
	// ByCatalog are the changes that an edit of the spec does not explain. What is adopted or pruned
	// is among them, whoever made it so.
	ByCatalog []safeguard.Change
	// Held are those that the safeguards hold, unless they are approved.
	Held []safeguard.Change
	// LosingEdit reports that the spec was edited since the last publication, and something published
	// is lost.
	LosingEdit bool
}

// Decide compares what is about to be published with what was.
//
// A loss is excused only if the new spec over the catalogs of the last publication makes it too:
// that is what the review of the edit saw.
func Decide(ctx context.Context, last Published, next Next) Verdict {
	changes := safeguard.Compare(last.Definitions, next.Result.Definitions)
	removed := map[safeguard.Key]bool{}
	for _, c := range changes {
		removed[c.Key] = removed[c.Key] || c.Reason == v1alpha1.RemovalReason
	}
	pruned := slices.DeleteFunc(slices.Clone(next.Pruned), func(c safeguard.Change) bool { return removed[c.Key] })
	others := slices.Concat(next.Adopted, pruned, unknownNames(last, next, changes))
	v := Verdict{Changes: slices.Concat(changes, others)}
	if len(changes) > 0 && edited(last, next) {
		v.LosingEdit = slices.ContainsFunc(changes, safeguard.Change.Loses)
		changes = safeguard.Unexcused(changes, byEdit(ctx, last, next, changes))
	}
	v.ByCatalog = slices.Concat(changes, others)
	for _, change := range v.ByCatalog {
		if Holds(next.Selection.Spec.Safeguards, change.Reason) {
			v.Held = append(v.Held, change)
		}
	}
	return v
}

func edited(last Published, next Next) bool {
	return last.Spec != nil && !equality.Semantic.DeepEqual(*last.Spec, RenderedSpec(next.Selection))
}

// Holds reports whether a safeguard holds changes with the reason. What the API server defaults may
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
