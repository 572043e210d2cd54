// Package registry moves artifacts between an OCI registry and memory: by digest, bounded in bytes, and
// without sending what is there already. It must not know what an artifact is for, nor where
// addresses and credentials come from.
package registry
