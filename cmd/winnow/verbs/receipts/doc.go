// SPDX-License-Identifier: Apache-2.0

// Package receipts is winnow receipt: it reads what a cluster has applied, signs that and pushes it. It must not write to the
// cluster, nor judge what it reads.
package receipts
