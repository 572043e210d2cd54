// SPDX-License-Identifier: Apache-2.0

package diff

// ServedCatalog is a change of a catalog of OLM that serves the packages of the artifact, as spec.push.catalog asks
// for.
type ServedCatalog struct {
	// Object is <kind> <namespace>/<name>.
	Object string `json:"object"`
	// Change is added, removed or updated.
	Change Change `json:"change"`
	// Deleted is true for a removal if Flux deletes the catalog, where the Kustomization prunes. Nil for other changes.
	Deleted *bool `json:"deleted,omitempty"`
	// Fields are the first changes of the object, and the number of further ones. Another digest of the image is none of
	// them where packages change, from which it follows.
	Fields        []Field `json:"fields,omitempty"`
	FieldsOmitted int     `json:"fieldsOmitted,omitempty"`
}
