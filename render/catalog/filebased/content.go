package filebased

import "encoding/json"

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
	Entries    []Entry    `json:"entries"`
	Properties []property `json:"properties"`
}

type channelContent struct{ Entries []Entry }

// Entry is a bundle's place in a channel.
type Entry struct {
	Name      string   `json:"name"`
	Replaces  string   `json:"replaces"`
	Skips     []string `json:"skips"`
	SkipRange string   `json:"skipRange"`
}

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

// kept returns how many values the content of a blob keeps in memory.
func (b *Blob) kept() int64 {
	sum := 0
	switch content := b.content.(type) {
	case *channelContent:
		sum = len(content.Entries)
		for _, entry := range content.Entries {
			sum += len(entry.Skips)
		}
	case *deprecationContent:
		sum = len(content.Entries)
	case *Bundle:
		sum = len(content.Provides) + len(content.Dependencies) + len(content.InstallModes)
	}
	return int64(sum)
}

// Bundle is a version of a package.
type Bundle struct {
	Name    string
	Version Version
	Image   string
	// Provides are the APIs of the properties olm.gvk, sorted, each once.
	Provides []GVK
	// Dependencies in the order of the properties.
	Dependencies []Dependency
	// InstallModes are the names of those that the bundle supports, sorted: AllNamespaces, MultiNamespace, OwnNamespace
	// and SingleNamespace. They are nil when the catalog does not tell.
	InstallModes []string
	// Deprecated is the message of the catalog, empty for a bundle that is not deprecated.
	Deprecated string
	// Blob is nil for a bundle of a Record.
	Blob *Blob
}
