// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
)

// page is what a template gets. Members below the first block are those of one template each.
type page struct {
	// Root is the way to the root of the site, and Section the entry of Nav that the page is below.
	Root, Section, Title, SiteTitle string
	Nav                             []entry
	Fleet                           *model.Fleet

	Figures     []figure
	Calm        string
	Unread      []model.Unread
	Catalogs    []shownCatalog
	Shown       shownCatalog
	Application *model.Application
	Places      []place
	Parts       []part
	Columns     []header
	Rows        []line
}

// entry leads to a page.
type entry struct {
	Href, Text string
	Count      int
}

// figure is a number with what it counts.
type figure struct {
	Number int
	Text   string
}

// shownCatalog is a catalog with its page.
type shownCatalog struct {
	Catalog    *model.Catalog
	Href       string
	Deprecated int
}

// place is what a group of clusters has of an application.
type place struct {
	Column *model.Column
	Cell   *model.Cell
}

func (s *site) page(path, section, title string) *page {
	p := &page{Root: rootOf(path), Section: section, Title: title, SiteTitle: s.title, Fleet: s.model.Fleet}
	p.Nav = append(p.Nav, entry{Href: frontPage, Text: "Needs you", Count: s.needs()})
	if s.model.Fleet != nil {
		p.Nav = append(p.Nav, entry{Href: fleetPage, Text: "Fleet"})
	}
	for _, c := range s.model.Catalogs {
		p.Nav = append(p.Nav, entry{Href: s.paths.catalogs[c], Text: c.Name})
	}
	return p
}

// needs counts what needs somebody.
func (s *site) needs() int {
	n := len(s.model.Unread)
	if s.model.Fleet != nil {
		n += s.model.Fleet.Count()
	}
	return n
}

func (s *site) front() *page {
	p := s.page(frontPage, frontPage, s.title)
	p.Unread = s.model.Unread
	applications := 0
	for _, c := range s.model.Catalogs {
		p.Catalogs = append(p.Catalogs, s.shown(c))
		applications += len(c.Applications)
	}
	p.Figures = []figure{{len(s.model.Catalogs), noun(len(s.model.Catalogs), "catalog")}, {applications, noun(applications, "application")}}
	switch f := s.model.Fleet; {
	case f != nil:
		p.Figures = append(p.Figures, figure{f.Clusters, noun(f.Clusters, "cluster")}, figure{s.needs(), noun(s.needs(), "thing") + " for you"})
		if s.needs() == 0 {
			p.Calm = "Nothing. Every cluster has the newest that Git names, nothing is held, and nothing in use is deprecated. Enjoy your coffee."
		}
	case s.needs() == 0:
		p.Calm = "Nothing. All catalogs could be read."
	}
	return p
}

func noun(n int, of string) string {
	if n == 1 {
		return of
	}
	return of + "s"
}

func (s *site) shown(c *model.Catalog) shownCatalog {
	shown := shownCatalog{Catalog: c, Href: s.paths.catalogs[c]}
	for _, a := range c.Applications {
		if isDeprecated(a) {
			shown.Deprecated++
		}
	}
	return shown
}

func (s *site) catalog(c *model.Catalog) *page {
	p := s.page(s.paths.catalogs[c], s.paths.catalogs[c], c.Name)
	p.Shown = s.shown(c)
	return p
}

func (s *site) application(a *model.Application) *page {
	p := s.page(s.paths.applications[a], s.paths.catalogs[a.Catalog], titleOf(a))
	p.Application = a
	columns, cells := s.model.Fleet.PlacesOf(a)
	for i := range columns {
		p.Places = append(p.Places, place{columns[i], cells[i]})
	}
	return p
}

func (s *site) fleet(p part) *page {
	f := s.model.Fleet
	shown := s.page(p.Href, fleetPage, "Fleet")
	for _, other := range partsOf(f) {
		other.Current = other.Href == p.Href
		shown.Parts = append(shown.Parts, other)
	}
	shown.Columns, shown.Rows = headersOf(f, p), s.linesOf(f, p, shown.Root)
	return shown
}
