// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"cmp"
	"strings"
)

// ReleasePath is the path of what a definition of Cozystack has in the older form of the backend Helm.
const ReleasePath = "spec.release"

// Backend is what installs the applications of a definition of Cozystack.
type Backend[F any] struct {
	// Type is Helm or Terraform, or whatever spec.backend.type has.
	Type string
	// Part of the definition that has the prefix, the labels, and chartRef or sourceRef; Path is its place.
	Part F
	Path string
}

// IsCozystack reports whether the spec of an ApplicationDefinition has the fields of Cozystack's definitions, whose API
// group is not the same in its releases and in its proposals.
func IsCozystack[F Form[F]](spec F) bool {
	return spec.Get("application").IsSet() || spec.Get("release").IsSet() || spec.Get("backend").IsSet()
}

// ApplicationKind returns the kind of objects that users create of a definition of Cozystack.
func ApplicationKind[F Form[F]](spec F) F { return spec.Get("application", "kind") }

// BackendOf returns the backend of the spec of a definition of Cozystack: spec.backend, or without it spec.release, which
// is the older form of the backend Helm.
func BackendOf[F Form[F]](spec F) Backend[F] {
	const helm, terraform = "Helm", "Terraform"
	union := spec.Get("backend")
	if !union.IsSet() {
		return Backend[F]{Type: helm, Part: spec.Get("release"), Path: ReleasePath}
	}
	name := cmp.Or(union.Get("type").Text(), helm)
	field := strings.ToLower(name)
	if name != helm && name != terraform {
		return Backend[F]{Type: name, Part: union.Get(field), Path: "spec.backend"}
	}
	return Backend[F]{Type: name, Part: union.Get(field), Path: "spec.backend." + field}
}
