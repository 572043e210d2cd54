// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/observed"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
)

// Survey is what a repository publishes, and what else is known of it.
type Survey struct {
	*selections.Survey
	// Head is the commit, made At, and Base the earlier one with which it is compared.
	Head, Base string
	At         time.Time
	// Since maps the addresses of catalogs and artifacts, with their tags or digests, to the time since which Git names
	// them, as far as it is known.
	Since map[string]time.Time
	// Clusters maps the files of stages to the names of their clusters.
	Clusters map[string][]string
	// Remote is the address of a remote of the repository, HOST/PATH; empty for none.
	Remote string
	// Observed maps places of stages, with the names of their clusters, to what these have applied.
	Observed map[[2]string]*observed.Cluster
	// Uses are sentences on who uses what is deprecated.
	Uses []string
	// Catalogs maps loaded catalogs to the shown ones.
	Catalogs map[*catalog.Catalog]*Catalog
}

// Column has the clusters of equal content.
type Column struct {
	// Clusters are directories of the repository, or names of clusters of a stage, sorted.
	Clusters []string
	// Stage is the place of the OCIRepository of a stage; empty for clusters with selections.
	Stage string
	// Sources are the catalogs, or the artifact of a stage, without what all have in common.
	Sources []string
	// Since is the time since which Git names the newest of them; zero where it is not known.
	Since time.Time
	// Held counts the changes that are held in each cluster.
	Held int

	content content
}

// Name is the stage, the only cluster, or the directory that all clusters have in common, with the first of them.
func (c *Column) Name() string {
	switch {
	case c.Stage != "":
		return c.Stage
	case len(c.Clusters) == 0:
		return ""
	case len(c.Clusters) == 1:
		return c.Clusters[0]
	}
	first, last := c.Clusters[0], c.Clusters[len(c.Clusters)-1] // sorted
	shared := 0
	for shared < min(len(first), len(last)) && first[shared] == last[shared] {
		shared++
	}
	if dir := strings.LastIndexByte(first[:shared], '/'); dir > 0 {
		return first[:dir] + " (" + first[dir+1:] + " ...)"
	}
	return first
}

// Count is the number of clusters, and 1 for a stage without names.
func (c *Column) Count() int { return max(1, len(c.Clusters)) }

// places are the clusters, or the stage without names of these.
func (c *Column) places() []string {
	if len(c.Clusters) > 0 {
		return c.Clusters
	}
	return []string{c.Stage}
}

// Row is an application in all columns.
type Row struct {
	Key
	// Applications are in the catalogs of the cells, each once and in the order of the columns.
	Applications []*Application
	// Cells are as many as columns.
	Cells []*Cell
	// In counts the clusters that have it.
	In int
}

// of returns the application of the catalog of a cell. A cell without a catalog, such as a cell of a stage, has the only one of
// the row. It is nil where no catalog is known.
func (r *Row) of(cell *Cell) *Application {
	if cell.Catalog != nil {
		return cell.Catalog.Find(r.Key)
	}
	if len(r.Applications) == 1 {
		return r.Applications[0]
	}
	return nil
}

// absent is the cell of an application that clusters do not know.
var absent = &Cell{}

// builder groups clusters.
type builder struct {
	survey Survey
	held   map[diff.Place][]v1alpha1.HeldReason
	// contents of renders, which selections share.
	contents map[any]content
	columns  map[string]*Column
	unread   []Unread
	clusters int
}

// addCluster adds a cluster with selections.
func (b *builder) addCluster(published []selections.State) {
	where := published[0].In()
	b.clusters++
	var contents []content
	var sources []string
	held := 0
	var since time.Time
	for _, p := range published {
		for _, reason := range p.Unread() {
			b.unread = append(b.unread, Unread{where, "CatalogSelection " + strings.TrimPrefix(p.Namespace+"/"+p.Name, "/") + ": " + reason})
		}
		if p.Side == nil {
			continue
		}
		known, found := b.contents[p.Side.Result]
		if !found {
			known = contentOf(p, b.survey.Catalogs)
			b.contents[p.Side.Result] = known
		}
		changes := b.held[diff.Place{Cluster: p.Cluster, File: p.File, Namespace: p.Namespace, Name: p.Name}]
		held += len(changes)
		contents = append(contents, known.withHeld(changes))
		for _, r := range p.References {
			sources = append(sources, baseOf(r.Catalog))
			if at := b.survey.Since[r.Catalog]; at.After(since) {
				since = at
			}
		}
	}
	if len(contents) > 0 {
		b.add(merged(contents), &Column{Clusters: []string{where}, Sources: sources, Since: since, Held: held})
	}
}

// addStages adds a column for each stage.
func (b *builder) addStages() {
	for _, s := range b.survey.Stages {
		where := s.In()
		b.clusters += max(1, len(b.survey.Clusters[s.File]))
		if s.Err != nil {
			b.unread = append(b.unread, Unread{where, "OCIRepository " + s.Name + ": " + s.Err.Error()})
			continue
		}
		source := cmp.Or(receipt.VersionOf(s.Artifact.Origin), baseOf(s.Reference.Catalog)) // the versions that the artifact was rendered from, or its digest
		column := &Column{Stage: PlaceOf(s), Clusters: b.survey.Clusters[s.File], Sources: []string{source}, Since: b.survey.Since[s.Reference.Catalog]}
		changes := b.held[diff.Place{Kind: s.Kind, Cluster: s.Cluster, File: s.File, Namespace: s.Namespace, Name: s.Name}]
		column.Held = len(changes)
		b.add(contentOfStage(slices.Concat(s.Artifact.Result.Definitions, s.Artifact.Result.Contents)).withHeld(changes), column)
	}
}

// add adds a column, or the clusters to the column of the same content.
func (b *builder) add(of content, column *Column) {
	key := column.Stage + "\n" + of.digest
	known := b.columns[key]
	if known == nil {
		column.content = of
		slices.Sort(column.Sources)
		column.Sources = slices.Compact(column.Sources)
		b.columns[key] = column
		return
	}
	known.Clusters = append(known.Clusters, column.Clusters...)
	known.Sources = each.Union(known.Sources, column.Sources...)
}

// sorted returns the columns: first of clusters, then of stages. Stages with the newest revisions come before others.
func (b *builder) sorted() []*Column {
	var all []*Column
	for _, column := range b.columns {
		slices.Sort(column.Clusters)
		slices.Sort(column.Sources)
		all = append(all, column)
	}
	slices.SortFunc(all, func(x, y *Column) int {
		return cmp.Or(boolean(x.Stage != "")-boolean(y.Stage != ""), y.Since.Compare(x.Since), slices.Compare(x.places(), y.places()), cmp.Compare(x.content.digest, y.content.digest))
	})
	return all
}

// PlaceOf returns the directory of the file of a stage, or of its cluster.
func PlaceOf(s promotions.State) string {
	if s.Cluster != "" {
		return s.Cluster
	}
	if i := strings.LastIndexByte(s.File, '/'); i > 0 {
		return s.File[:i]
	}
	return s.File
}

// baseOf returns the end of an address: the name of the repository with its tag, or the beginning of its digest.
func baseOf(address string) string {
	base := address[strings.LastIndexByte(address, '/')+1:]
	name, digest, pinned := strings.Cut(base, "@")
	if !pinned {
		return base
	}
	const shown = len("sha256:") + 12
	return name + "@" + digest[:min(len(digest), shown)]
}

// rowsOf returns the applications of all columns, sorted by name and kind.
func rowsOf(columns []*Column) []*Row {
	every := map[Key]*Cell{}
	for _, column := range columns {
		for key := range column.content.cells {
			every[key] = absent
		}
	}
	var rows []*Row
	for _, key := range sortedKeys(every) {
		row := &Row{Key: key}
		for _, column := range columns {
			cell := cmp.Or(column.content.cells[key], absent)
			row.Cells = append(row.Cells, cell)
			if cell.State == StateIn {
				row.In += column.Count()
			}
			if a := cell.Catalog.Find(key); a != nil && !slices.Contains(row.Applications, a) {
				row.Applications = append(row.Applications, a)
			}
		}
		rows = append(rows, row)
	}
	return rows
}
