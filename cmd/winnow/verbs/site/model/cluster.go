// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/observed"
)

// Cluster is a cluster with what Git gives it, and what it has applied by its receipt.
type Cluster struct {
	// Name is a directory of the repository, or the name of a cluster of a stage. Stage is the place of that stage; empty for others.
	Name, Stage string
	// Column is what Git gives it; nil where that could not be read.
	Column *Column
	// Observed is what it has applied; nil where no receipts are read, or nothing is known of its receipts.
	Observed *observed.Cluster
	// Unread is what could not be read of it.
	Unread []Unread
}

// IsFine reports whether nothing of the cluster needs people.
func (c *Cluster) IsFine() bool {
	return len(c.Unread) == 0 && (c.Column == nil || c.Column.Held == 0) && (c.Observed == nil || len(c.Observed.Problems) == 0)
}

// Gives is an application that Git gives a cluster, or that is held there.
type Gives struct {
	Key
	*Cell
}

// Gives returns what Git gives the cluster, sorted by name: first what is held, then what is in.
func (c *Cluster) Gives() (all []Gives) {
	if c.Column == nil {
		return nil
	}
	for _, key := range sortedKeys(c.Column.content.cells) {
		if cell := c.Column.content.cells[key]; cell.State == StateIn || cell.State == StateHeld {
			all = append(all, Gives{key, cell})
		}
	}
	slices.SortStableFunc(all, func(a, b Gives) int { return b.State.rank() - a.State.rank() })
	return all
}

// membersOf returns the clusters of columns, and those that could not be read: what needs people first.
func membersOf(columns []*Column, unread []Unread, applied map[[2]string]*observed.Cluster) []*Cluster {
	var all []*Cluster
	known := map[string]bool{}
	for _, column := range columns {
		for _, name := range column.Clusters {
			known[name] = true
			all = append(all, &Cluster{Name: name, Stage: column.Stage, Column: column, Observed: applied[[2]string{column.Stage, name}]})
		}
	}
	for _, u := range unread {
		if u.Where != "" && !known[u.Where] {
			known[u.Where] = true
			all = append(all, &Cluster{Name: u.Where})
		}
	}
	for _, c := range all {
		c.Unread = slices.DeleteFunc(slices.Clone(unread), func(u Unread) bool { return u.Where != c.Name })
	}
	slices.SortStableFunc(all, func(a, b *Cluster) int {
		return cmp.Or(boolean(a.IsFine())-boolean(b.IsFine()), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Name, b.Name))
	})
	return all
}
