// SPDX-License-Identifier: Apache-2.0

package guard

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// RenderedSpec returns the spec without the members that do not change the artifact's objects, such as
// approvals.
func RenderedSpec(cs *v1alpha1.CatalogSelection) v1alpha1.CatalogSelectionSpec {
	spec := *cs.Spec.DeepCopy()
	spec.Interval = metav1.Duration{}
	spec.Suspend = false
	spec.ServiceAccountName = ""
	spec.Safeguards = v1alpha1.Safeguards{}
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
