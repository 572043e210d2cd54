// SPDX-License-Identifier: Apache-2.0

// Package kustomize finds what kustomize does not carry as it stands in a document, and what it cannot write.
//
// It must not know what a document means, and runs no kustomize.
package kustomize
