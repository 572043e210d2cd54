// SPDX-License-Identifier: Apache-2.0

// Package layers finds, for each value of an instance, the layer of a selection that sets it.
//
// It is pure, and it merges nothing: it explains values that a backend has merged. It must not know the kinds of
// objects that carry them.
package layers
