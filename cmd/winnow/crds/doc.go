// SPDX-License-Identifier: Apache-2.0

// Package crds checks objects against CustomResourceDefinitions as an API server does when they are
// applied and do not exist yet. It works on files and objects, and must not know clusters, catalogs
// nor selections.
package crds
