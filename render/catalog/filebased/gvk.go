// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"cmp"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
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

func readGVK(value []byte) GVK {
	var found GVK
	jsontext.EachMember(value, func(key, value []byte) {
		switch {
		case value[0] != '"':
		case jsontext.IsKey(key, "group"):
			found.Group = jsontext.Unquoted(value)
		case jsontext.IsKey(key, "version"):
			found.Version = jsontext.Unquoted(value)
		case jsontext.IsKey(key, "kind"):
			found.Kind = jsontext.Unquoted(value)
		}
	})
	return found
}

// describeAPI names an API for people.
func describeAPI(api GVK) string { return "the API " + excerpt.Of(api.String()) }
