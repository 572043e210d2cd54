// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"cmp"
	"strings"
)

// BackendType is the path of the field of a definition of Cozystack that names what installs its applications.
const BackendType = "spec.backend.type"

// releasePath is the path in the older form of the backend Helm.
const releasePath = "spec.release"

// prefix ends the paths of the fields that begin the names of what a backend makes.
const prefix = ".prefix"

// IsPrefix reports whether the path of a field of the identity leads to a prefix. It differs between backends.
func IsPrefix(path string) bool { return strings.HasSuffix(path, prefix) }

// Backend is what installs the applications of a definition of Cozystack.
type Backend[P any] struct {
	// Type is Helm or Terraform, or whatever spec.backend.type has.
	Type string
	// Part of the definition that has the prefix, the labels, and chartRef or sourceRef; Path is its place.
	Part P
	Path string
}

// part is a part of a definition, in any form that a definition is read in.
type part[P any] interface {
	Get(names ...string) P
	IsSet() bool
}

// IsCozystack reports whether the spec of an ApplicationDefinition has the fields of Cozystack's definitions, whose API
// group is not the same in its releases and in its proposals.
func IsCozystack[P part[P]](spec P) bool {
	return spec.Get("application").IsSet() || spec.Get("release").IsSet() || spec.Get("backend").IsSet()
}

// BackendOf returns the backend of the spec of a definition of Cozystack: spec.backend, or without it spec.release, which
// is the older form of the backend Helm. text returns the value of a string.
func BackendOf[P part[P]](spec P, text func(P) string) Backend[P] {
	const helm, terraform = "Helm", "Terraform"
	union := spec.Get("backend")
	if !union.IsSet() {
		return Backend[P]{Type: helm, Part: spec.Get("release"), Path: releasePath}
	}
	name := cmp.Or(text(union.Get("type")), helm)
	field := strings.ToLower(name)
	if name != helm && name != terraform {
		return Backend[P]{Type: name, Part: union.Get(field), Path: "spec.backend"}
	}
	return Backend[P]{Type: name, Part: union.Get(field), Path: "spec.backend." + field}
}
