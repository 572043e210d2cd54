// SPDX-License-Identifier: Apache-2.0

// Package backend is the contract between the backends, which install applications, and their callers: the instance of
// an application, the objects that install it, the backends that translate the one into the other, and the instance
// that an object belongs to. The backends are in the packages below, and package backends lists them.
//
// It is pure: the same instance makes the same bytes. It must not know how an application and its version
// were selected, what the objects are published with (labels, annotations, protection against pruning), nor
// what has been published before. Definitions and values are untrusted: every error names the field.
package backend
