// SPDX-License-Identifier: Apache-2.0

// Package fleetmodel is a model of a fleet: a hub, stages in Git and 40 spokes, whose Flux is in memory. Its test draws
// thousands of steps, lets Winnow render, hold, compare and approve, and shows that no spoke loses what Git has not
// named. The end-to-end tests compare its Flux with the real one. It must not know how Winnow decides.
package fleetmodel
