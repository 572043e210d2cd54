// SPDX-License-Identifier: Apache-2.0

// Package observed says what the clusters of stages have applied, by their receipts, and what is wrong with it. A receipt only warns:
// nothing in it approves or releases anything. It must not reach a cluster, nor know how its result is shown.
package observed
