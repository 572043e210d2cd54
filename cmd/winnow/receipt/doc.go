// SPDX-License-Identifier: Apache-2.0

// Package receipt is the format of receipts: what a cluster has applied, in an envelope that a key of the cluster has signed.
// It must not know how a cluster is read, nor where receipts are kept. What it opens is untrusted.
package receipt
