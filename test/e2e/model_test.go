// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// model implements the documented behaviour of several CatalogSelections with prune and the default
// safeguards, of their Kustomizations, which prune too, and of the definitions in the cluster. It is
// written from the documents, independently of the code that it tests.
//
// Its applications are letters: the definition of a is soak-a, whatever its name in a catalog.
type model struct {
	catalogs map[string]catalogRevision // by OCIRepository
	parts    []*modelPart
	live     map[string]*liveApp
	renders  map[string]string // maps the checksum of a render to the render
	now      time.Time
	tenants  bool           // selections of a tenant may select any definition, and apply none
	admitted time.Time      // of the tenant
	tally    map[string]int // counts the events that a run has covered
}

// modelPart is a selection with its Kustomization.
type modelPart struct {
	name, catalog string
	spec          modelSpec
	suspended     bool
	held          []string        // lines that would name what the source's revision loses, or why it is not published
	conflict      bool            // others hold a definition that it renders
	withheld      bool            // it has given way to a conflict, and was not published since
	unaware       bool            // it serves that definition, and finds the conflict once it is reconciled
	wants         map[string]bool // definitions that it renders, admitted or not
	doubt         bool            // since it was written, the spec has had a name without a match
	written       string          // the manifest
	generation    int             // of the manifest

	baseline     baseline
	published    map[string]app  // in the artifact
	reviewed     modelSpec       // spec of the last publication
	revision     string          // catalog digest of the last publication; empty if unknown
	revisions    map[string]bool // all that were published
	compared     string          // objects of the Kustomization at the last comparison
	lines        map[string]bool // the status has the lines that the spec has had: whether each is used
	read         string          // publication that the status did not know, for which all lines were used
	publications int             // how many there were
	restarted    bool            // the controller has restarted since the last publication
	newer        bool            // the status is older than what is published
	older        *modelPart      // that of the status, while it is older
	behind       bool            // it is older, and only the revision that the Kustomization has applied tells of that
	former       *modelPart      // the part when its selection was deleted, until what was done about it was seen
	late         bool            // it was suspended when its catalog changed: the others may have been first
	vanished     bool            // no archive is left, and while it is withheld, none is rendered again
	announced    string          // revision in the ExternalArtifact
	updated      time.Time       // when that was published
	waits        bool            // others may be about to claim what it gives up
	waiting      time.Time       // when it was about to give up something first
	changed      time.Time       // of the spec

	applier   string // name of the Kustomization
	paused    bool   // the Kustomization is suspended
	applied   string
	inventory map[string]bool
	missed    bool // it was to apply the artifact again while that was withheld
}

// baseline is the state that a new render is compared with.
type baseline int

const (
	baselineNone    baseline = iota // never published
	baselineRecord                  // the last publication is known
	baselineContent                 // only the published content is known: the status was lost
	baselineLost                    // the baseline was lost
)

// modelSpec has the fields of the spec that the soak test edits.
type modelSpec struct {
	tiers, names, excluded, approved []string
}

func (s modelSpec) clone() modelSpec {
	return modelSpec{slices.Clone(s.tiers), slices.Clone(s.names), slices.Clone(s.excluded), slices.Clone(s.approved)}
}

// selects returns the applications that the spec selects, by name.
func (s modelSpec) selects(apps map[string]app) map[string]app {
	selected := map[string]app{}
	for name, a := range apps {
		if slices.Contains(s.tiers, a.tier) && slices.Contains(s.names, name) && !slices.Contains(s.excluded, name) {
			selected[name] = a
		}
	}
	return selected
}

// catalogRevision is a pushed catalog. Its name is <tag>@<digest>, the format of Flux.
type catalogRevision struct {
	tag, digest string
	apps        map[string]app
}

func (r catalogRevision) String() string { return r.tag + "@" + r.digest }

// liveApp is a definition in the cluster.
type liveApp struct {
	app
	owner    string // Kustomization that has applied it last
	bypassed bool
	kept     bool      // marked against deletion by Flux
	uid      types.UID // empty until it was seen
}

// String returns the expected state in the cluster.
func (l liveApp) String() string {
	text := fmt.Sprintf("%s %v %s by %s", l.name, l.versions, l.values, l.owner)
	if l.bypassed {
		text += " bypassed and marked"
	}
	if l.kept {
		text += " kept"
	}
	return text
}

// render returns a text that identifies the artifact of a part.
func (p *modelPart) render(apps map[string]app) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s of %s:", p.name, p.catalog)
	for _, name := range slices.Sorted(maps.Keys(apps)) {
		fmt.Fprintf(&text, " %s %v %s", name, apps[name].versions, apps[name].values)
	}
	return text.String()
}

// artifact returns a text that identifies what the part serves.
func (p *modelPart) artifact() string {
	return p.render(p.published)
}

// served reports whether the part serves an artifact.
func (p *modelPart) served() bool { return p.baseline != baselineNone }

func (p *modelPart) clone() *modelPart {
	c := *p
	c.spec, c.reviewed = p.spec.clone(), p.reviewed.clone()
	c.held, c.lines = slices.Clone(p.held), maps.Clone(p.lines)
	c.wants, c.inventory, c.revisions = maps.Clone(p.wants), maps.Clone(p.inventory), maps.Clone(p.revisions)
	c.published = maps.Clone(p.published)
	return &c
}

func (m *model) clone() *model {
	c := &model{
		catalogs: maps.Clone(m.catalogs), live: map[string]*liveApp{}, renders: maps.Clone(m.renders), tally: maps.Clone(m.tally),
		now: m.now, tenants: m.tenants, admitted: m.admitted,
	}
	for _, p := range m.parts {
		c.parts = append(c.parts, p.clone())
	}
	for name, l := range m.live {
		copied := *l
		c.live[name] = &copied
	}
	return c
}

// String returns the whole state of the model.
func (m *model) String() string {
	var text strings.Builder
	for _, p := range m.parts {
		fmt.Fprintf(&text, "%s selects %v; held %q, conflict %t, waits %t, baseline %d, lines %v; applied %q with %v; %s\n", p.name, p.spec, p.held, p.conflict,
			p.waits, p.baseline, p.lines, p.applied, slices.Sorted(maps.Keys(p.inventory)), p.artifact())
	}
	for _, name := range slices.Sorted(maps.Keys(m.live)) {
		fmt.Fprintln(&text, m.live[name])
	}
	return text.String()
}

// count adds the results of a step to the tally.
func (m *model) count() {
	for _, p := range m.parts {
		for _, reason := range p.held {
			m.tally["held for "+kindOf(reason)]++
		}
		if p.conflict {
			m.tally["in conflict"]++
		}
	}
}

// orphans returns the names of live definitions that no part publishes, sorted.
func (m *model) orphans() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(m.live)) {
		if !slices.ContainsFunc(m.parts, func(p *modelPart) bool { return p.published[name].name != "" }) {
			names = append(names, name)
		}
	}
	return names
}

// bypassedOf returns the names of the bypassed definitions that a part holds, sorted.
func (m *model) bypassedOf(p *modelPart) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(m.live)) {
		if l := m.live[name]; l.bypassed && l.owner == p.applier && p.inventory[name] {
			names = append(names, name)
		}
	}
	return names
}

// needsMark reports whether an inventory contains a definition and its selection knows the kind: only then
// does a bypass need the mark at once.
func (m *model) needsMark(name string) bool {
	return slices.ContainsFunc(m.parts, func(p *modelPart) bool {
		return p.inventory[name] && (p.knowsServed() || len(p.wants) > 0)
	})
}

// mayPrune reports whether a Kustomization may delete a definition: it is in an inventory, and Flux does not leave it alone.
func (m *model) mayPrune(name string) bool { return !m.live[name].bypassed && m.isApplied(name) }

// isApplied reports whether an inventory has a definition.
func (m *model) isApplied(name string) bool {
	return slices.ContainsFunc(m.parts, func(p *modelPart) bool { return p.inventory[name] })
}
