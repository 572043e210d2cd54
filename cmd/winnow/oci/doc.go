// Package oci keeps catalogs in registries: it names them, reaches them with the credentials of Docker's configuration,
// pulls and packs them by the contract, and says what can be done about what a registry refuses. It must not know what
// selections make of a catalog, nor flags; names of flags stand in its advice alone.
package oci
