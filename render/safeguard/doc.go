// SPDX-License-Identifier: Apache-2.0

// Package safeguard compares the definitions of a new render with those that were published, or that live
// in a cluster, and returns the changes: removed applications and versions, changed identities and
// sources, and major upgrades.
//
// It is pure, so that the command line names in a pull request the changes that the controller will hold.
// It must not know where either side comes from, nor how a change is held.
package safeguard
