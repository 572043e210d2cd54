// SPDX-License-Identifier: Apache-2.0

package transform

import "github.com/winnow-dev/winnow/api/v1alpha1"

// Config is what a selection changes in documents. The zero value leaves out the
// DefaultOmitFields of KKP's objects and changes nothing else.
type Config struct {
	// Values are merged into default values, in order.
	Values []ValuesRule
	// Mirrors replace prefixes of addresses.
	Mirrors []Mirror
	// CollectHosts asks for Output.Hosts although there are no mirrors.
	CollectHosts bool
	// OmitFields are dotted paths below spec. Nil: DefaultOmitFields for KKP's group and none
	// for others; empty: none.
	OmitFields []string
	// AnnotateSource writes the digest of the source into the object.
	AnnotateSource bool
}

// ValuesRule merges values into the default values of the named applications.
type ValuesRule struct {
	Names []string
	// Defaults is a JSON object that fills what the catalog does not set; empty: nothing.
	Defaults []byte
	// Overrides is a JSON object that wins over what the catalog sets; empty: nothing.
	Overrides []byte
}

// Mirror replaces the prefix From of addresses with To. Both are host[:port][/path], and To may have a scheme, oci://
// or https://, for charts and Git repositories.
type Mirror struct {
	From, To string
	// Helm replaces how charts of the mirror are fetched; nil: as the document says.
	Helm *v1alpha1.MirrorHelm
}
