// SPDX-License-Identifier: Apache-2.0

// Package oci stores catalogs in registries: it parses references, connects with the credentials of Docker's
// configuration, packs, pushes and pulls catalogs as the contract describes, and adds advice to errors of registries.
// It must not know selections nor flags; only its advice contains names of flags.
package oci
