// Package instance resolves the instances of a spec to applications and versions of the catalogs, and builds their
// objects with the backends.
//
// It is pure. It must not know what has been published before, nor what becomes of an instance that cannot be
// resolved.
package instance
