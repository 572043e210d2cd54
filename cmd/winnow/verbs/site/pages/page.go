// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
	"github.com/winnow-dev/winnow/render/each"
)

// book makes the pages of a site.
type book struct {
	site  *model.Site
	title string
	files paths
}

// page is what a template gets. Members below the first block are each for one template.
type page struct {
	// Root is the way to the root of the site, and Section the entry of Nav that the page is below.
	Root, Section, Title, SiteTitle string
	Nav                             []entry
	Fleet                           *model.Fleet
	Unread                          []model.Unread

	Figures     []figure
	Calm        string
	Catalogs    []shownCatalog
	Shown       shownCatalog
	Application *model.Application
	Places      []place
	Parts       []part
	Columns     []header
	Rows        []line
	Cluster     *model.Cluster
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

// place is what clusters, or a stage, have of an application.
type place struct {
	Stage    string
	Clusters []string
	Cell     *model.Cell
}

func (b book) page(path, section, title string) *page {
	p := &page{Root: rootOf(path), Section: section, Title: title, SiteTitle: b.title, Fleet: b.site.Fleet, Unread: b.site.Unread}
	p.Nav = append(p.Nav, entry{Href: frontPage, Text: "Needs you", Count: b.site.Needs()})
	if b.site.Fleet != nil {
		p.Nav = append(p.Nav, entry{Href: fleetPage, Text: "Fleet"}, entry{Href: clustersPage, Text: "Clusters"})
	}
	for _, c := range b.site.Catalogs {
		p.Nav = append(p.Nav, entry{Href: b.files.catalogs[c], Text: c.Name})
	}
	return p
}

func (b book) front() *page {
	p := b.page(frontPage, frontPage, b.title)
	applications := 0
	for _, c := range b.site.Catalogs {
		p.Catalogs = append(p.Catalogs, b.shown(c))
		applications += len(c.Applications)
	}
	p.Figures = []figure{{len(b.site.Catalogs), noun(len(b.site.Catalogs), "catalog")}, {applications, noun(applications, "application")}}
	switch f := b.site.Fleet; {
	case f != nil:
		needs := b.site.Needs()
		p.Figures = append(p.Figures, figure{f.Clusters, noun(f.Clusters, "cluster")}, figure{needs, noun(needs, "thing") + " for you"})
		if needs == 0 {
			p.Calm = calm(f)
		}
	case b.site.Needs() == 0:
		p.Calm = "Nothing. All catalogs could be read."
	}
	return p
}

// calm states what is known of a fleet that needs nobody.
func calm(f *model.Fleet) string {
	held := "no change since the commit " + repository.Short(f.Base) + " is held"
	if f.Base == f.Head {
		held = "what is held is not known without an earlier commit"
	}
	return "Nothing. Git gives all clusters the same revision of each repository, no catalog deprecates what they select, and " +
		held + ". Enjoy your coffee."
}

func noun(n int, of string) string {
	if n == 1 {
		return of
	}
	return of + "s"
}

func (b book) shown(c *model.Catalog) shownCatalog {
	return shownCatalog{Catalog: c, Href: b.files.catalogs[c], Deprecated: len(each.Where(c.Applications, isDeprecated))}
}

func (b book) catalog(c *model.Catalog) *page {
	p := b.page(b.files.catalogs[c], b.files.catalogs[c], c.Name)
	p.Shown = b.shown(c)
	return p
}

func (b book) application(a *model.Application) *page {
	p := b.page(b.files.applications[a], b.files.catalogs[a.Catalog], titleOf(a))
	p.Application = a
	p.Places = placesOf(b.site.Fleet.PlacesOf(a))
	return p
}

// placesOf returns the clusters with the same of an application together, in the order of the columns.
func placesOf(columns []*model.Column, cells []*model.Cell) (all []place) {
	places := map[string]int{}
	for n, column := range columns {
		c := cells[n]
		key := fmt.Sprintf("%q %q %q %q %q", column.Stage, c.State, c.Versions, c.Reason, c.Held)
		i, known := places[key]
		if !known {
			i, places[key] = len(all), len(all)
			all = append(all, place{Stage: column.Stage, Cell: c})
		}
		all[i].Clusters = append(all[i].Clusters, column.Clusters...)
	}
	return all
}

func (b book) cluster(c *model.Cluster) *page {
	p := b.page(b.files.clusters[c], clustersPage, c.Name)
	p.Cluster = c
	return p
}

func (b book) fleet(p part) *page {
	f := b.site.Fleet
	shown := b.page(p.Href, fleetPage, "Fleet")
	for _, other := range partsOf(f) {
		other.Current = other.Href == p.Href
		shown.Parts = append(shown.Parts, other)
	}
	for i, column := range f.Columns[p.from:p.to] {
		shown.Columns = append(shown.Columns, header{column, p.from + i + 1})
	}
	shown.Rows = linesOf(f, p, shown.Root, b.files)
	return shown
}

// Bounds of texts on cards, in characters and bytes.
const (
	mostOfSummary = 240
	mostOfSearch  = 2_000
)

func titleOf(a *model.Application) string { return cmp.Or(plaintext.Line(a.Title), a.Name) }

func initialOf(a *model.Application) string {
	first, _ := utf8.DecodeRuneInString(titleOf(a))
	return strings.ToUpper(string(first))
}

// searchOf returns the words by which an application is found, in lower case.
func searchOf(a *model.Application) string {
	all := strings.ToLower(plaintext.Line(strings.Join(append([]string{a.Name, a.Title, a.Tier, a.Description}, each.Map(a.Labels, model.Pair.String)...), " ")))
	return strings.ToValidUTF8(all[:min(len(all), mostOfSearch)], "")
}

// isDeprecated reports whether an application, or a version of it, is deprecated.
func isDeprecated(a *model.Application) bool {
	return a.Deprecated != "" || slices.ContainsFunc(a.Versions, func(v model.Version) bool { return v.Deprecated != "" })
}
