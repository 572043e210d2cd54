// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection/numbered"
)

// Deprecated is something deprecated that clusters have.
type Deprecated struct {
	Row *Row
	// Application is nil if no catalog that is shown has it.
	Application *Application
	Message     string
	Clusters    []string
}

// Available is a version that a catalog has and clusters do not.
type Available struct {
	Row         *Row
	Application *Application
	// Latest is the label of the highest version of the catalog.
	Latest string
	// From are the highest versions of clusters.
	From []Outdated
}

// Outdated are clusters with a lower version.
type Outdated struct {
	Version  string
	Clusters []string
}

// Behind are clusters that Git gives another revision than the newest that it names for a repository.
type Behind struct {
	// Repository is the address without tag and digest. Runs and Newest are tags, or the versions or digests of artifacts.
	Repository, Runs, Newest string
	// Since is the time since which Git names the newest; zero where it is not known.
	Since    time.Time
	Clusters []string
}

// Different is a repository whose revision differs between clusters. Git does not tell the newest one.
type Different struct {
	// Repository is the address without tag and digest.
	Repository string
	Revisions  []Revision
}

// Revision is a tag or digest with the clusters that Git gives it.
type Revision struct {
	Revision string
	Clusters []string
}

// part is an application of a catalog with the cells of a row that are of it.
type part struct {
	application *Application
	// clusters of the cells, by what distinguishes them.
	clusters map[string][]string
}

// partsOf returns the parts of a row in the order of the columns. textsOf returns what tells the clusters of a cell apart.
func partsOf(columns []*Column, row *Row, textsOf func(cell *Cell, of *Application) []string) (all []part) {
	for i, cell := range row.Cells {
		of := row.of(cell)
		for _, text := range textsOf(cell, of) {
			n := slices.IndexFunc(all, func(p part) bool { return p.application == of })
			if n < 0 {
				n = len(all)
				all = append(all, part{of, map[string][]string{}})
			}
			all[n].clusters[text] = append(all[n].clusters[text], columns[i].places()...)
		}
	}
	for _, p := range all {
		for _, clusters := range p.clusters {
			slices.Sort(clusters)
		}
	}
	return all
}

// deprecated returns the deprecations in the order of the rows.
func deprecated(columns []*Column, rows []*Row) (all []Deprecated) {
	messages := func(cell *Cell, _ *Application) []string { return cell.Deprecated }
	for _, row := range rows {
		for _, p := range partsOf(columns, row, messages) {
			for _, message := range slices.Sorted(maps.Keys(p.clusters)) {
				all = append(all, Deprecated{row, p.application, message, p.clusters[message]})
			}
		}
	}
	return all
}

// available returns the upgrades in the order of the rows.
func available(columns []*Column, rows []*Row) (all []Available) {
	lower := func(cell *Cell, of *Application) []string {
		if of == nil || cell.State == StateOut || !safeguard.IsLower(of.LatestNumber, cell.Number) {
			return nil
		}
		return []string{cell.Latest}
	}
	for _, row := range rows {
		for _, p := range partsOf(columns, row, lower) {
			one := Available{Row: row, Application: p.application, Latest: p.application.Latest}
			one.From = each.Map(slices.Sorted(maps.Keys(p.clusters)), func(version string) Outdated { return Outdated{version, p.clusters[version]} })
			all = append(all, one)
		}
	}
	return all
}

// behind returns the clusters with a catalog, or artifact, that is not the newest of its repository, by repository and revision,
// and the repositories whose newest one is not known.
func behind(s Survey) (all []Behind, different []Different) {
	named, shown := namedBy(s), labelsOf(s)
	for _, repository := range slices.Sorted(maps.Keys(named)) {
		address, revisions := redact.Text(repository), slices.Sorted(maps.Keys(named[repository]))
		newest, known := Newest(repository, revisions, s.Since)
		var unordered []Revision
		for _, revision := range revisions {
			clusters := slices.Compact(slices.Sorted(slices.Values(named[repository][revision])))
			switch {
			case !known:
				unordered = append(unordered, Revision{shown(repository, revision), clusters})
			case revision != newest:
				all = append(all, Behind{address, shown(repository, revision), shown(repository, newest), s.Since[repository+newest], clusters})
			}
		}
		if !known {
			different = append(different, Different{address, unordered})
		}
	}
	return all, different
}

// labelsOf returns a function from a revision of a repository to the versions that its artifact was rendered from, or to itself.
func labelsOf(s Survey) func(repository, revision string) string {
	versions := map[string]string{}
	for _, stage := range s.Stages {
		versions[stage.Reference.Catalog] = receipt.VersionOf(stage.Artifact.Origin)
	}
	return func(repository, revision string) string { return cmp.Or(versions[repository+revision], revision) }
}

// namedBy maps the repositories that Git names to their revisions, and these to the clusters.
func namedBy(s Survey) map[string]map[string][]string {
	named := map[string]map[string][]string{}
	add := func(address, place string) {
		repository, revision := Split(address)
		if named[repository] == nil {
			named[repository] = map[string][]string{}
		}
		named[repository][revision] = append(named[repository][revision], place)
	}
	for _, p := range s.Published {
		for _, r := range p.References {
			if r.Catalog != "" {
				add(r.Catalog, p.In())
			}
		}
	}
	for _, stage := range s.Stages {
		places := s.Clusters[stage.File]
		if len(places) == 0 {
			places = []string{PlaceOf(stage)}
		}
		for _, place := range places {
			add(stage.Reference.Catalog, place)
		}
	}
	return named
}

// Newest returns the newest of the revisions of a repository, at least one, which begin with a colon or an @: the highest
// semantic version if all are tags of such, else the one that Git has named last. known reports whether there is one: two of the
// same number, or of the same time, have no order.
func Newest(repository string, revisions []string, since map[string]time.Time) (newest string, known bool) {
	if len(revisions) == 1 {
		return revisions[0], true
	}
	compare := func(a, b string) int { return numbered.Descending(numberOf(b), numberOf(a)) }
	if slices.ContainsFunc(revisions, func(r string) bool { return numberOf(r).Parsed == nil }) {
		compare = func(a, b string) int { return since[repository+a].Compare(since[repository+b]) }
		if slices.ContainsFunc(revisions, func(r string) bool { return since[repository+r].IsZero() }) {
			return "", false
		}
	}
	newest = slices.MaxFunc(revisions, compare)
	if slices.ContainsFunc(revisions, func(r string) bool { return r != newest && compare(r, newest) == 0 }) {
		return "", false
	}
	return newest, true
}

// numberOf returns the semantic version of a tag after its colon.
func numberOf(revision string) numbered.Version {
	return numbered.Of([]string{strings.TrimPrefix(revision, ":")})[0]
}

// Split cuts an address into the repository's, and :tag, @digest or nothing.
func Split(address string) (repository, revision string) {
	if i := strings.IndexByte(address, '@'); i >= 0 {
		return address[:i], address[i:]
	}
	if i := strings.LastIndexByte(address, ':'); i > strings.LastIndexByte(address, '/') {
		return address[:i], address[i:]
	}
	return address, ""
}
