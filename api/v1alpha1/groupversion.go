// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// CatalogSelectionKind is the kind of a CatalogSelection.
const CatalogSelectionKind = "CatalogSelection"

// GroupVersion is the group and version of the API.
var GroupVersion = schema.GroupVersion{Group: "catalog.winnow.dev", Version: "v1alpha1"}

// AddToScheme adds the types of this API to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &CatalogSelection{}, &CatalogSelectionList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
