// SPDX-License-Identifier: Apache-2.0

// Package get is winnow get: it lists the selections of a cluster with their state, and follows them.
package get
