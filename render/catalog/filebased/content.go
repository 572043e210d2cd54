// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"cmp"
	"encoding/json"

	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
)

// The documents have every field that OLM's types have: a value of another type makes a catalog invalid, whether or
// not the field is used here. The contents are what stays in memory of them.

type packageDocument struct {
	Name           string     `json:"name"`
	DefaultChannel string     `json:"defaultChannel"`
	Icon           *icon      `json:"icon"`
	Description    string     `json:"description"`
	Properties     []property `json:"properties"`
}

type packageContent struct{ DefaultChannel string }

type icon struct {
	Data      []byte `json:"base64data"`
	MediaType string `json:"mediatype"`
}

type property struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

type channelDocument struct {
	Entries    []graph.Entry `json:"entries"`
	Properties []property    `json:"properties"`
}

type channelContent struct{ Entries []graph.Entry }

type deprecationContent struct {
	Entries []Deprecation `json:"entries"`
}

// Deprecation is a message about a package, a channel or a bundle.
type Deprecation struct {
	Reference Reference `json:"reference"`
	Message   string    `json:"message"`
}

// Reference names what is deprecated: its schema, and the name unless it is the package.
type Reference struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
}

// Bundle is a version of a package.
type Bundle struct {
	Name    string
	Version Version
	Image   string
	// RelatedImages are the addresses of the images that the bundle runs, in the order of the catalog.
	RelatedImages []string
	// Provides are the APIs of the properties olm.gvk, sorted, each once.
	Provides []GVK
	// Dependencies in the order of the properties.
	Dependencies []Dependency
	// InstallModes are the names of those that the bundle supports, sorted: AllNamespaces, MultiNamespace, OwnNamespace
	// and SingleNamespace. They are nil when the catalog does not tell.
	InstallModes []string
	// Deprecated is the message of the catalog, empty for a bundle that is not deprecated.
	Deprecated string
	Blob       *Blob
}

// byVersion orders bundles by version, and bundles of one version by name.
func byVersion(x, y *Bundle) int {
	return cmp.Or(x.Version.Compare(y.Version), cmp.Compare(x.Name, y.Name))
}
