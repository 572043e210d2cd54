// SPDX-License-Identifier: Apache-2.0

package model

// Unread is something that could not be read.
type Unread struct {
	// Where it is: a catalog, a cluster or a file; empty for what is of no place.
	Where, Reason string
}
