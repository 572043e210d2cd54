// SPDX-License-Identifier: Apache-2.0

package model

// Site is all that the pages show.
type Site struct {
	Catalogs []*Catalog
	// Fleet is nil without a GitOps repository.
	Fleet *Fleet
	// Unread is what could not be read, sorted by place.
	Unread []Unread
}

// Needs counts what needs people, with what could not be read.
func (s *Site) Needs() int {
	if s.Fleet == nil {
		return len(s.Unread)
	}
	return len(s.Unread) + s.Fleet.Count()
}
