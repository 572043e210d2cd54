// SPDX-License-Identifier: Apache-2.0

// Package crdcheck checks objects and catalogs against the CustomResourceDefinitions of --crds, and has the flags of
// the rules. It must not know what a verb does with the findings.
package crdcheck
