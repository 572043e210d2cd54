// SPDX-License-Identifier: Apache-2.0

// Package reconcile is winnow reconcile, suspend and resume: it requests reconciliations of a cluster, and waits for them. It must not know a catalog.
package reconcile
