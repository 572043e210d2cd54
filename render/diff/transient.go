// SPDX-License-Identifier: Apache-2.0

package diff

// Transient are the losses of the newer spec over the older catalogs that the newer state does not have.
type Transient struct {
	// Losses by application.
	Losses []Loss `json:"losses"`
	// Advice is catalog-first or widen-first.
	Advice Advice `json:"advice"`
}

// Loss is an application or an instance that is removed, or versions of one.
type Loss struct {
	Application string `json:"application"`
	// Instance of the application; empty for the application itself.
	Instance   string `json:"instance,omitempty"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Change is removed, or updated where only versions are lost.
	Change   Change   `json:"change"`
	Versions []string `json:"versions"`
	// Reason is why an application is not selected then.
	Reason string `json:"reason,omitempty"`
}

// Name returns the name of the application, or that of the instance behind the word.
func (l Loss) Name() string {
	if l.Instance != "" {
		return "instance " + l.Instance
	}
	return l.Application
}

// Advice is how to split a change of the spec and its catalogs.
type Advice string

// Advices. CatalogFirst: the older spec loses nothing over the newer catalogs. WidenFirst: it does, so an
// intermediate spec is needed that selects the same over both.
const (
	CatalogFirst Advice = "catalog-first"
	WidenFirst   Advice = "widen-first"
)

// Move is an application that leaves this selection and enters another one.
type Move struct {
	Application string `json:"application"`
	APIVersion  string `json:"apiVersion"`
	Kind        string `json:"kind"`
	// To is <namespace>/<name> of the other selection, and ToFile its file.
	To     string `json:"to"`
	ToFile string `json:"toFile,omitempty"`
	// Unprotected is true for a move that the controller cannot protect: where the artifact is pushed, Flux
	// may delete the definition and install it again.
	Unprotected bool `json:"unprotected"`
}
