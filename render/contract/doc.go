// Package contract reads what an OCI manifest says about the catalog that it carries: the format,
// and the one layer that holds it. It gets the manifest's bytes, and must not know
// how they are fetched.
package contract
