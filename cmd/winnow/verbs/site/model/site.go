// SPDX-License-Identifier: Apache-2.0

// Package model is what a web site shows: catalogs with their applications, and what a GitOps repository makes of them. It
// reads nothing, and must not know pages, files and the time. Its texts come from catalogs, and are as hostile.
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
