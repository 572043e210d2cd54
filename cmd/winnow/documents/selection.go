// SPDX-License-Identifier: Apache-2.0

package documents

import "github.com/winnow-dev/winnow/api/v1alpha1"

// Selection is a CatalogSelection of a commit, with its place.
type Selection struct {
	*v1alpha1.CatalogSelection
	Origin
	// Invalid is the reason why it cannot be decoded. Only its name is known then.
	Invalid error
}

// SameName reports whether two selections have the same namespace and name.
func SameName(a, b Selection) bool { return a.Namespace == b.Namespace && a.Name == b.Name }

// HasPruned reports whether the artifact may have objects that Flux deletes when they leave: all of them, or what belongs
// to instances, such as their sources and default values.
func (s *Selection) HasPruned() bool {
	return s.Invalid != nil || s.Spec.GetDeletionPolicy() == v1alpha1.DeletionPolicyDelete || len(s.Spec.Instances) > 0
}
