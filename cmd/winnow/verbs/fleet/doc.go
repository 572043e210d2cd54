// SPDX-License-Identifier: Apache-2.0

// Package fleet is winnow fleet: it lists the clusters of stages with what their receipts tell. A receipt only warns: nothing in it
// approves or releases anything. It must not reach a cluster, or write anywhere.
package fleet
