// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/value"
)

// secretKind is the kind whose data is not shown.
const secretKind = "Secret"

// Annotations of hooks. Helm reads them in a document, and not in the items of a list.
const (
	hookAnnotation   = "helm.sh/hook"
	policyAnnotation = "helm.sh/hook-delete-policy"
)

// identity is what Helm and the API server know an object by. The version of its API is no part of it.
type identity struct{ group, kind, namespace, name string }

func compare(a, b identity) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name), cmp.Compare(a.group, b.group))
}

// String returns the object for people, bounded.
func (i identity) String() string {
	const most = 200
	return strings.TrimSpace(excerpt.To(i.kind, most) + " " + strings.TrimPrefix(excerpt.To(i.namespace, most)+"/"+excerpt.To(i.name, most), "/"))
}

// object is a rendered object.
type object struct {
	identity

	content map[string]any
	// manifest has the object. prefix begins the paths of its fields there, if it is in a list.
	manifest *rendering.Manifest
	prefix   string
	// hook and policy are annotations of a hook, with Helm's default where it has no policy; empty for an object of a release.
	hook, policy string
}

// crdsFile matches the path of a file in the directory crds of a chart, or of a chart in it.
var crdsFile = regexp.MustCompile(`^[^/]*/(charts/[^/]*/)*crds/`)

// inCRDs reports whether it is of a directory crds, which Helm installs once, and never upgrades or deletes.
func (o object) inCRDs() bool { return crdsFile.MatchString(o.manifest.Path) }

// isGenerated reports whether two renders differ in a field, or in the manifest as a whole. It does not report this of fields
// below one: of two keys, one may be the other with a dot and more behind it.
func (o object) isGenerated(path string) bool {
	all := o.manifest.Generated
	return slices.Contains(all, "") || slices.Contains(all, o.prefix+path) || o.prefix != "" && slices.Contains(all, ".items")
}

// isBelowGenerated reports whether a field, or one above it, is generated. No key of the path has a dot.
func (o object) isBelowGenerated(path string) bool {
	for at := path; at != ""; at = at[:strings.LastIndexByte(at, '.')] {
		if o.isGenerated(at) {
			return true
		}
	}
	return false
}

// hasGeneratedName reports whether two renders have another object each.
func (o object) hasGeneratedName() bool {
	return o.manifest != nil && o.isBelowGenerated(".metadata.name")
}

// isKept reports whether Helm leaves the object in the cluster when it is no longer rendered.
func (o object) isKept() bool { return o.annotation("helm.sh/resource-policy") == "keep" }

func (o object) annotation(name string) string {
	return o.at("metadata", "annotations", name).Text()
}

// objects are the objects of a release by identity. Hooks are no part of a release: Helm deletes and creates them anew.
type objects map[identity]object

// sorted returns the identities in their order.
func (all objects) sorted() []identity { return slices.SortedFunc(maps.Keys(all), compare) }

// at returns a part of the object.
func (o object) at(path ...string) value.Value { return value.Of(o.content).Get(path...) }
