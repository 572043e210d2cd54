// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
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
	for _, published := range each.Group(s.Published, selections.State.In) {
		b.addCluster(published)
	}
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

// Instance is one of a selection whose application has a higher version there than it installs.
type Instance struct {
	Name, Application string
	// Version and Latest are labels.
	Version, Latest string
	Clusters        []string
}

// outdated returns the instances with a lower version than their selection has, sorted by name, application and version.
func outdated(published []selections.State) []Instance {
	type key struct{ name, application, version, latest string }
	clusters := map[key][]string{}
	for _, p := range published {
		if p.Side == nil || len(p.Side.Result.Instances) == 0 {
			continue
		}
		decided := each.By(p.Side.Result.Selection.Applications(), func(d selection.Decision) string { return d.Application.Name })
		for _, in := range p.Side.Result.Instances {
			d, known := decided[in.Application]
			if !known {
				continue
			}
			facts := d.Application.Metadata.Versions.Of(in.Version)
			latest, number := latestOf(d.Application, d.Versions)
			if safeguard.IsLower(number, facts.Numbered()) {
				k := key{in.Name, in.Application, cmp.Or(facts.Label, in.Version), latest}
				clusters[k] = append(clusters[k], p.In())
			}
		}
	}
	var all []Instance
	for _, k := range slices.SortedFunc(maps.Keys(clusters), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.application, b.application), cmp.Compare(a.version, b.version), cmp.Compare(a.latest, b.latest))
	}) {
		all = append(all, Instance{k.name, k.application, k.version, k.latest, slices.Compact(clusters[k])})
	}
	return all
}

// Held are changes that the safeguards hold until a line approves them.
type Held struct {
	// Where are the clusters, or the files, that have the same changes with the same approval.
	Where []string
	// Object is the kind and name of what approves them.
	Object string
	// Reasons describe the changes.
	Reasons []string
	// Lines of YAML approve them; empty where nothing can.
	Lines string
	// File takes the lines, as they are written there; empty where Advice says why there is none.
	File, Advice string
}

// heldOf maps the places of selections to what is held.
func heldOf(report *diff.Report) map[diff.Place][]v1alpha1.HeldReason {
	all := map[diff.Place][]v1alpha1.HeldReason{}
	for _, s := range report.Held() {
		all[s.Place()] = s.Held.Reasons
	}
	return all
}

// newHeld returns what is held, in the order of the report.
func newHeld(report *diff.Report) (all []Held) {
	for _, s := range report.Held() {
		object := cmp.Or(s.Place().Kind, "CatalogSelection") + " " + strings.TrimPrefix(s.Namespace+"/"+s.Name, "/")
		h := Held{Where: []string{cmp.Or(s.Cluster, s.File)}, Object: object, File: s.Held.File, Advice: s.Held.Advice}
		h.Reasons = each.Map(s.Held.Reasons, func(r v1alpha1.HeldReason) string { return strings.TrimPrefix(r.Application+": "+r.Message, ": ") })
		if len(s.Held.Approve) > 0 {
			h.Lines = s.Held.YAML(s.Promotion, len(s.Held.Approve))
		}
		all = append(all, h)
	}
	content := func(h Held) string {
		return fmt.Sprintf("%q", []string{h.Object, strings.Join(h.Reasons, "\n"), h.Lines, h.File, h.Advice})
	}
	return each.Map(each.Group(all, content), func(same []Held) Held {
		same[0].Where = slices.Sorted(slices.Values(slices.Concat(each.Map(same, func(h Held) []string { return h.Where })...)))
		return same[0]
	})
}
