// SPDX-License-Identifier: Apache-2.0

// Package transform applies what a selection changes in the document of an application: which
// versions stay, default values, mirrors, omitted fields and provenance. A transformer is one
// file; they run in a fixed order that New explains.
//
// Documents are edited as text: only the lines that have to change do, and the order of fields,
// the comments and the quotes stay. What cannot be spliced safely (a document with aliases or merge
// keys, which an edit expands) is encoded again as a whole, with comments and order but not the layout.
// To encode every document would be less code, but drops blank lines, indents lists and folds or quotes
// texts in other ways: in lines that no edit concerns, and in default values that users see in the cluster.
//
// Each edit is made on the parsed document as well, and the result is parsed again and compared with it.
//
// The package must not know the criteria of selections, files, or Kubernetes clients.
package transform
