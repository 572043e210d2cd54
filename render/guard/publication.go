// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
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

// edited reports whether an edit of the spec may change the artifact.
func edited(last Published, next Next) bool {
	return last.Spec != nil && !equality.Semantic.DeepEqual(*last.Spec, RenderedSpec(next.Selection))
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
