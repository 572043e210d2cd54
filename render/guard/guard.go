package guard

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Published is the last publication, which a new render is compared with.
type Published struct {
	// Spec that was rendered, as RenderedSpec returns it; nil when unknown.
	Spec *v1alpha1.CatalogSelectionSpec
	// Definitions in the artifact; none before the first publication.
	Definitions []safeguard.Definition
	// Sources have the fields of the published applications that selection reads, in the order of the
	// spec; nil where they were too large for the record.
	Sources []RecordedSource
	// Filters are those of the sources, in the order of the spec; nil where they are not known.
	Filters []string
	// Older is true for a record of an older release, which has no Sources: then an edit excuses all changes.
	Older bool
}

// Next is the render that is about to be published.
type Next struct {
	Selection *v1alpha1.CatalogSelection
	Sources   []Source
	Result    *render.Result
	// Adopted are the losses of live definitions that were not published before.
	Adopted []safeguard.Change
	// Pruned are the objects that a Kustomization would delete because it has applied another artifact.
	Pruned []safeguard.Change
}

// Verdict are the changes of a new render. Every list is part of the one before.
type Verdict struct {
	// Changes are all losses, identity and source changes, and major upgrades.
	Changes []safeguard.Change
	// ByCatalog are the changes that an edit of the spec does not excuse. It includes Next's Adopted and
	// Pruned, which an edit never excuses.
	ByCatalog []safeguard.Change
	// Held are those that the safeguards hold, unless they are approved. A change of several versions may be two here:
	// what new revisions cause alone, and the rest.
	Held []safeguard.Change
	// LosingEdit reports whether the spec was edited since the last publication and a published definition,
	// or a version of one, is lost.
	LosingEdit bool
}

// Decide compares the next publication with the last one.
//
// A loss is excused only if the new spec over the catalogs of the last publication causes it too: the
// review of the edit could see it.
func Decide(ctx context.Context, last Published, next Next) Verdict {
	changes := explained(safeguard.Compare(last.Definitions, next.Result.Compared()), next.Result.Unresolved)
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
	changes = slices.DeleteFunc(changes, func(c safeguard.Change) bool { return isNamed(c, next.Result.Instances) })
	v.ByCatalog = slices.Concat(changes, others)
	held := func(changes []safeguard.Change) []safeguard.Change {
		return slices.DeleteFunc(slices.Clone(changes), func(c safeguard.Change) bool {
			return !Holds(next.Selection.Spec.Safeguards, c) && !c.OfPlatform()
		})
	}
	v.Held = slices.Concat(attributed(ctx, last, next, held(changes)), held(others))
	return v
}

// edited reports whether an edit of the spec may change the artifact.
func edited(last Published, next Next) bool {
	return last.Spec != nil && !equality.Semantic.DeepEqual(*last.Spec, RenderedSpec(next.Selection))
}

// explained returns changes in which an instance that is gone because its version is gone loses that version.
func explained(changes []safeguard.Change, unresolved []instance.Unresolved) []safeguard.Change {
	for i, c := range changes {
		j := slices.IndexFunc(unresolved, func(u instance.Unresolved) bool { return u.Name == c.Instance })
		if c.Reason != v1alpha1.RemovalReason || c.Instance == "" || j < 0 {
			continue
		}
		changes[i].Detail = unresolved[j].Reason
		if unresolved[j].OfVersion {
			changes[i].Reason = v1alpha1.VersionRemovalReason
		}
	}
	return changes
}

// isNamed reports whether a change leads to a version that the spec names exactly for the instance: whoever named it has
// decided about it.
func isNamed(c safeguard.Change, instances []installation.Instance) bool {
	if c.Reason != v1alpha1.InstanceUpgradeReason && c.Reason != v1alpha1.VersionRemovalReason {
		return false
	}
	return slices.ContainsFunc(instances, func(in installation.Instance) bool { return in.Name == c.Instance && in.Named })
}

// Holds reports whether a safeguard holds a change. A safeguard that is empty, in a spec
// that the API server has not seen, has the default of the API.
func Holds(s v1alpha1.Safeguards, c safeguard.Change) bool {
	switch c.Reason {
	case v1alpha1.InstanceUpgradeReason:
		return s.OnInstanceUpgrade == v1alpha1.SafeguardHold || s.OnInstanceUpgrade != v1alpha1.SafeguardPublish && c.IsMajor()
	case v1alpha1.RemovalReason:
		return s.OnRemoval != v1alpha1.SafeguardPublish
	case v1alpha1.VersionRemovalReason, v1alpha1.AdoptionReason, v1alpha1.StrandedReason:
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

// RenderedSpec returns the spec without the members that do not change the artifact's objects, such as
// approvals. While the result is the same, the catalogs cause every change.
func RenderedSpec(cs *v1alpha1.CatalogSelection) v1alpha1.CatalogSelectionSpec {
	spec := *cs.Spec.DeepCopy()
	spec.Interval = metav1.Duration{}
	spec.Suspend = false
	spec.ServiceAccountName = ""
	spec.Safeguards = v1alpha1.Safeguards{OnEmpty: spec.Safeguards.OnEmpty}
	spec.Cluster = v1alpha1.Cluster{}
	spec.Push = renderedPush(spec.Push)
	for i := range spec.Sources {
		spec.Sources[i].RequireVerified = false
	}
	return spec
}

// renderedPush returns what of a push stands in the artifact: the image that a catalog serves.
func renderedPush(push *v1alpha1.Push) *v1alpha1.Push {
	if push == nil || push.Catalog == nil {
		return nil
	}
	return &v1alpha1.Push{URL: push.URL, Type: push.Type, Catalog: push.Catalog}
}
