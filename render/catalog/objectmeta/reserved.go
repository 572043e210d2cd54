// SPDX-License-Identifier: Apache-2.0

package objectmeta

import (
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/reserved"
)

// IsReserved reports whether a label or annotation is not for a catalog to set: it is kustomize's, Flux's or Winnow's, or
// the bypass.
func IsReserved(key string) bool { return whyReserved(key) != "" }

// whyReserved returns why a label or annotation is not for a catalog to set; empty if it is. What package reserved has is
// refused with two exceptions: the tier is the author's, and by the labels of KKP a selection leaves out KKP's own
// applications. No other key of Flux is the catalog's either: with force, for one, Flux would delete and create an object
// of the cluster again.
func whyReserved(key string) string {
	owner := reserved.OwnerOf(key)
	domain, _, hasDomain := strings.Cut(strings.ToLower(key), "/")
	switch {
	case hasDomain && (domain == "fluxcd.io" || strings.HasSuffix(domain, ".fluxcd.io")):
		return "how Flux treats an object is not the catalog's to say"
	case key == v1alpha1.TierLabel, owner == reserved.KKP:
		return ""
	}
	return owner.Reason()
}
