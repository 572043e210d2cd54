// SPDX-License-Identifier: Apache-2.0

package diff

// Move is an application that leaves this selection and enters another one.
type Move struct {
	Application string `json:"application"`
	APIVersion  string `json:"apiVersion"`
	Kind        string `json:"kind"`
	// To is <namespace>/<name> of the other selection, and ToFile its file.
	To     string `json:"to"`
	ToFile string `json:"toFile,omitempty"`
	// Unprotected is true for a move that the controller may not protect: where the artifact is applied to another cluster, or a
	// Kustomization of it changes, Flux may delete the definition and install it again.
	Unprotected bool `json:"unprotected"`
}
