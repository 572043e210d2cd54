// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxReason bounds the reason why something could not be read, in bytes: errors quote what they are about.
const maxReason = 2_000

// Fleet is the matrix of applications and clusters, and what needs people.
type Fleet struct {
	Head, Base string
	At         time.Time
	// Clusters counts the clusters, unreadable ones as well.
	Clusters int
	Columns  []*Column
	Rows     []*Row
	// Members are the clusters with a page, what needs people first.
	Members []*Cluster
	// Repository leads to the repository; its name is empty where no remote has one.
	Repository Link

	Held       []Held
	Deprecated []Deprecated
	// Uses are sentences on who uses what is deprecated, by receipts.
	Uses      []string
	Behind    []Behind
	Different []Different
	Upgrades  []Available
	Instances []Instance
}

// NewFleet returns the matrix, and what could not be read of it.
func NewFleet(s Survey) (*Fleet, []Unread) {
	f := &Fleet{Head: s.Head, Base: s.Base, At: s.At, Uses: s.Uses, Repository: repositoryOf(s.Remote)}
	b := builder{survey: s, held: heldOf(s.Report), contents: map[any]content{}, columns: map[string]*Column{}}
	b.addClusters()
	b.addStages()
	f.Columns, f.Clusters = b.sorted(), b.clusters
	f.Rows = rowsOf(f.Columns)
	f.Held = newHeld(s.Report)
	f.Deprecated = deprecated(f.Columns, f.Rows)
	f.Upgrades = available(f.Columns, f.Rows)
	f.Behind, f.Different = behind(s)
	f.Instances = outdated(s.Published)
	for _, sentence := range s.Report.Unknown {
		b.unread = append(b.unread, Unread{Reason: sentence})
	}
	for i := range b.unread {
		b.unread[i].Reason = excerpt.To(redact.Text(b.unread[i].Reason), maxReason)
	}
	slices.SortStableFunc(b.unread, func(x, y Unread) int { return cmp.Or(cmp.Compare(x.Where, y.Where), cmp.Compare(x.Reason, y.Reason)) })
	unread := slices.Compact(b.unread)
	f.Members = membersOf(f.Columns, unread, s.Observed)
	return f, unread
}

// repositoryOf returns the link to a repository with the address of a remote, HOST/PATH.
func repositoryOf(remote string) Link {
	if remote == "" {
		return Link{}
	}
	return newLink(remote[strings.LastIndexByte(remote, '/')+1:], "https://"+remote)
}

// Count is the number of things that need people, without what could not be read.
func (f *Fleet) Count() int {
	return len(f.Held) + len(f.Deprecated) + len(f.Behind) + len(f.Different) + len(f.Upgrades) + len(f.Instances)
}

// PlacesOf returns the columns of the fleet in which a catalog decides on an application, with the cells of these.
func (f *Fleet) PlacesOf(a *Application) (columns []*Column, cells []*Cell) {
	if f == nil {
		return nil, nil
	}
	i, found := slices.BinarySearchFunc(f.Rows, Key{a.Kind, a.Name}, func(row *Row, key Key) int {
		return cmp.Or(cmp.Compare(row.Name, key.Name), cmp.Compare(row.Kind, key.Kind))
	})
	if !found {
		return nil, nil
	}
	for n, cell := range f.Rows[i].Cells {
		if cell.State != StateAbsent && (cell.Catalog == a.Catalog || cell.Catalog == nil) {
			columns, cells = append(columns, f.Columns[n]), append(cells, cell)
		}
	}
	return columns, cells
}
