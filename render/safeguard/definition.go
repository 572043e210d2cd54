// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/identity"
	"github.com/winnow-dev/winnow/render/value"
)

// Definition has the fields of an object in an artifact, or in a cluster, that are compared: of a definition, or of
// the main object of an instance, whose only version is the installed one.
type Definition struct {
	// APIVersion is <group>/<version>, Kind the kind, Name the metadata.name.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespace of the main object of an instance; empty for a definition.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Instance of the spec whose main object this is, and the Application that it installs; empty for a definition.
	Instance    string `json:"instance,omitempty"`
	Application string `json:"application,omitempty"`
	// Source is the name of its source; empty for an object in a cluster.
	Source string `json:"source,omitempty"`
	// Versions of spec.versions, in its order; empty for kinds that have none.
	Versions []string `json:"versions,omitempty"`
	// Origins of the versions, and Identity has the fields that decide which live releases are meant,
	// both as in identity.Facts. Records of older releases lack them.
	Origins  Origins           `json:"origins,omitempty"`
	Identity map[string]string `json:"identity,omitempty"`
	// Channel that the operator of an instance follows; empty for others, and in records of older releases.
	Channel string `json:"channel,omitempty"`
	// Locked maps the paths of the locked values of an instance to digests of what it has there, empty where it has nothing,
	// and "" to the digest of all values. Nil where they are not known, as in records of older releases.
	Locked map[string]string `json:"locked,omitempty"`
	// Package is the package of operators that a content is; nil for others.
	Package *Package `json:"package,omitempty"`
}

// DefinitionOf reads an object in the types that JSON and kustomize have. Fields that the object does not
// have, or not with the type of a definition's, stay empty.
func DefinitionOf(object map[string]any) Definition {
	of := value.Of(object)
	facts := identity.Of(of)
	return Definition{
		APIVersion: of.Get("apiVersion").Text(), Kind: of.Get("kind").Text(), Name: of.Get("metadata", "name").Text(),
		Versions: Versions(object), Origins: facts.Origins, Identity: facts.Fields,
	}
}

// Versions returns the versions in spec.versions of a definition in JSON's types.
func Versions(object map[string]any) []string {
	return definition.Names(definition.Versions(value.Of(object).Get("spec")))
}

// Key returns the identity of the object.
func (d Definition) Key() Key {
	group, _, _ := strings.Cut(d.APIVersion, "/")
	return Key{Group: group, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name}
}

// IsObject reports whether it is an object of Kubernetes, and no content of an artifact alone.
func (d Definition) IsObject() bool { return d.Instance != "" || d.Key().IsDefinition() }

// origin returns the origin of the version with an index, or of the definition itself if it has no
// versions; empty when unknown, as in records of older releases.
func (d Definition) origin(index int) string {
	switch {
	case len(d.Origins) == 1:
		return d.Origins[0]
	case index < len(d.Origins) && len(d.Origins) == len(d.Versions):
		return d.Origins[index]
	}
	return ""
}

// OriginOf returns the origin of a version, or of the definition itself for an empty one.
func (d Definition) OriginOf(version string) string {
	return d.origin(max(0, slices.Index(d.Versions, version)))
}

// ByKey maps keys to their definitions; of several with one key, to the last.
func ByKey(definitions []Definition) map[Key]Definition {
	return each.By(definitions, Definition.Key)
}

// byInstance maps the names of instances to them.
func byInstance(definitions []Definition) map[string]Definition {
	instances := each.Where(definitions, func(d Definition) bool { return d.Instance != "" })
	return each.By(instances, func(d Definition) string { return d.Instance })
}
