// SPDX-License-Identifier: Apache-2.0

// Package parity compares two builds of winnow: what they print, their exit codes and the files that they write, for many
// commands over inputs that a seed makes. It must not know which result is right, only where the two differ.
package parity
