// SPDX-License-Identifier: Apache-2.0

package model

// Unread is something that could not be read.
type Unread struct {
	// Where it is: a catalog, a cluster or a file; empty for what is of no place.
	Where, Reason string
}

// String returns the place, if there is one, and the reason.
func (u Unread) String() string {
	if u.Where == "" {
		return u.Reason
	}
	return u.Where + ": " + u.Reason
}
