// SPDX-License-Identifier: Apache-2.0

// Package node has the tests that run Winnow in pods, on a real node of this machine: make e2e-node. It knows nothing of how
// the servers are built.
package node
