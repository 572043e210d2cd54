// SPDX-License-Identifier: Apache-2.0

// Package instance resolves the instances of a spec to applications and versions of the catalogs, and builds their
// objects with the backends.
//
// It is pure. It must not know what was published before, nor how an instance that cannot be resolved is reported.
package instance
