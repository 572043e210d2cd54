// SPDX-License-Identifier: Apache-2.0

package diff

// Promotion is the change of the digest in an OCIRepository, whose rendered artifacts are compared.
type Promotion struct {
	// From and To are the addresses of the artifacts; From is empty where no digest was there before, and To where none is
	// there any more.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Annotation is the one of the OCIRepository whose lines name what leaves.
	Annotation string `json:"annotation"`
}
