// Package identity reads, of a definition, what decides which live releases it means, and where its
// versions come from: what changes under the same name and version, and so without being seen.
//
// It is pure. It must not know what a change of either leads to, nor how a definition is parsed.
package identity
