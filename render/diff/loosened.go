// SPDX-License-Identifier: Apache-2.0

package diff

// Loosened is a protection that an edit of the spec removes.
type Loosened struct {
	// Field of the CatalogSelection, and its values with the defaults filled in.
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
	// Effect describes the possible consequence.
	Effect string `json:"effect"`
}
