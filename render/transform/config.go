// SPDX-License-Identifier: Apache-2.0

package transform

import "github.com/winnow-dev/winnow/api/v1alpha1"

// Config is what a selection changes in documents. The zero value leaves out the
// DefaultOmitFields of KKP's objects and changes nothing else.
type Config struct {
	// Values are merged into default values, in order.
	Values []v1alpha1.ValuesRule
	// Mirrors replace the prefixes From of addresses with To.
	Mirrors []v1alpha1.Mirror
	// CollectHosts asks for Output.Hosts although there are no mirrors.
	CollectHosts bool
	// OmitFields are dotted paths below spec. Nil: DefaultOmitFields for KKP's group and none
	// for others; empty: none.
	OmitFields []string
	// AnnotateSource writes the digest of the source into the object.
	AnnotateSource bool
}
