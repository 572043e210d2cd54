package filebased

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"unicode"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// GVK names an API.
type GVK struct {
	Group   string `json:"group,omitempty"`
	Version string `json:"version,omitempty"`
	Kind    string `json:"kind,omitempty"`
}

// String returns "group/version, Kind=kind", as Kubernetes prints it.
func (g GVK) String() string { return g.Group + "/" + g.Version + ", Kind=" + g.Kind }

// Compare orders APIs by group, kind and version.
func (g GVK) Compare(other GVK) int {
	return cmp.Or(cmp.Compare(g.Group, other.Group), cmp.Compare(g.Kind, other.Kind), cmp.Compare(g.Version, other.Version))
}

// installModes are the names that OLM knows, sorted.
var installModes = []string{"AllNamespaces", "MultiNamespace", "OwnNamespace", "SingleNamespace"}

// installMode is how a ClusterServiceVersion has it.
type installMode struct {
	Type      string `json:"type"`
	Supported bool   `json:"supported"`
}

// fact keeps what the value of a property, which has its shape, tells about the bundle. A value without what makes it
// useful is left out: OLM's tools accept it.
func (c *bundleCheck) fact(name string, value []byte) {
	switch name {
	case propertyGVK:
		if api := readGVK(value); api.Version != "" && api.Kind != "" {
			c.bundle.Provides = append(c.bundle.Provides, api)
		}
	case PackageRequired, GVKRequired, Constraint:
		c.bundle.Dependencies = append(c.bundle.Dependencies, readDependency(name, value))
	case propertyMetadata:
		c.hasMetadata = true
		c.bundle.InstallModes = readInstallModes(value, c.bundle.InstallModes)
	}
}

// finishFacts sorts what was read.
func (c *bundleCheck) finishFacts() {
	slices.SortFunc(c.bundle.Provides, GVK.Compare)
	c.bundle.Provides = slices.Clip(slices.Compact(c.bundle.Provides))
	if !c.hasMetadata {
		c.bundle.InstallModes = c.objectModes
	}
}

func readGVK(value []byte) GVK {
	var found GVK
	eachMember(value, func(key, value []byte) {
		switch {
		case value[0] != '"':
		case isKey(key, "group"):
			found.Group = unquoted(value)
		case isKey(key, "version"):
			found.Version = unquoted(value)
		case isKey(key, "kind"):
			found.Kind = unquoted(value)
		}
	})
	return found
}

// isKey reports whether a key, with its quotes, is a name in any case of its letters.
func isKey(key []byte, name string) bool { return bytes.EqualFold(key[1:len(key)-1], []byte(name)) }

// readInstallModes returns the modes that the metadata or the spec of a ClusterServiceVersion support, or else when
// it does not have any.
func readInstallModes(spec []byte, otherwise []string) []string {
	var listed []installMode
	if value := valueOf(spec, "installModes"); value == nil || json.Unmarshal(value, &listed) != nil || len(listed) == 0 {
		return otherwise
	}
	supported := []string{}
	for _, name := range installModes {
		if slices.Contains(listed, installMode{Type: name, Supported: true}) {
			supported = append(supported, name)
		}
	}
	return supported
}

// clusterServiceVersion returns the spec of a manifest that is one, nil for any other manifest. The manifest may be
// anything.
func clusterServiceVersion(manifest []byte) []byte {
	manifest = bytes.TrimLeftFunc(manifest, unicode.IsSpace)
	if !bytes.Contains(manifest, []byte("ClusterServiceVersion")) {
		return nil
	}
	if _, err := scanObject(manifest); err != nil {
		return nil
	}
	if kind := valueOf(manifest, "kind"); kind == nil || unquotedText(kind) != "ClusterServiceVersion" {
		return nil
	}
	return valueOf(manifest, "spec")
}

// valueOf returns the last value of a key, in any case of its letters, of valid JSON; nil without one, as of what is
// not an object.
func valueOf(data []byte, name string) (value []byte) {
	eachMember(data, func(key, found []byte) {
		if isKey(key, name) {
			value = found
		}
	})
	return value
}

// unquotedText returns a string of valid JSON, nothing of another value.
func unquotedText(value []byte) string {
	if value[0] != '"' {
		return ""
	}
	return unquoted(value)
}

// describeAPI names an API for people.
func describeAPI(api GVK) string { return "the API " + excerpt.Of(api.String()) }
