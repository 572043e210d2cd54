// SPDX-License-Identifier: Apache-2.0

// Package yamlnode reads YAML of untrusted sources as nodes: it decodes documents, bounds what their
// aliases expand to, looks up keys with merge keys honoured, and names nodes in messages.
//
// Check comes first: what follows aliases and merge keys relies on a document that Check has found bounded.
//
// The package must not know what the documents are about.
package yamlnode
