//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// model says what the documents promise of one CatalogSelection with prune and the default
// safeguards, of its Kustomization, which prunes too, and of the definitions in the cluster. It is
// written down without a look at the code that has to keep these promises.
type model struct {
	spec      modelSpec
	source    catalogRevision
	published map[string]app // in the artifact, by name
	reviewed  modelSpec      // the spec of what is published
	catalog   []app          // the catalog of what is published
	held      []string       // why the source's revision is not published
	live      map[string]*liveApp
	tally     map[string]int // of what happened, so that a run shows what it has met
}

// modelSpec are the members of the spec that the soak test edits.
type modelSpec struct {
	tiers, excluded, approved []string
}

func (s modelSpec) clone() modelSpec {
	return modelSpec{slices.Clone(s.tiers), slices.Clone(s.excluded), slices.Clone(s.approved)}
}

// selects returns the applications that the spec selects, by name.
func (s modelSpec) selects(apps []app) map[string]app {
	selected := map[string]app{}
	for _, a := range apps {
		if slices.Contains(s.tiers, a.tier) && !slices.Contains(s.excluded, a.name) {
			selected[a.name] = a
		}
	}
	return selected
}

// catalogRevision is a catalog as it was pushed. Its name is <tag>@<digest>, as Flux spells it.
type catalogRevision struct {
	tag, digest string
	apps        []app
}

func (r catalogRevision) String() string { return r.tag + "@" + r.digest }

// liveApp is a definition in the cluster.
type liveApp struct {
	app
	bypassed bool
	uid      types.UID // empty until it was seen
}

// String shows what has to be in the cluster.
func (l liveApp) String() string {
	text := fmt.Sprintf("%s %v %s", l.name, l.versions, l.values)
	if l.bypassed {
		text += " bypassed and marked"
	}
	return text
}

// reconsider publishes and applies what the source has, unless a safeguard speaks against it.
func (m *model) reconsider() {
	next := m.spec.selects(m.source.apps)
	m.held = m.objections(next)
	if len(m.held) > 0 {
		return
	}
	before := m.published
	m.published, m.reviewed, m.catalog = next, m.spec.clone(), m.source.apps
	if !maps.EqualFunc(before, next, sameContent) {
		m.prune(before)
		m.apply()
	}
}

func sameContent(a, b app) bool {
	return slices.Equal(a.versions, b.versions) && a.values == b.values
}

// objections returns why the next applications are held, sorted.
func (m *model) objections(next map[string]app) []string {
	switch {
	case len(next) == 0:
		return []string{"EmptyResult"}
	case maps.EqualFunc(m.published, next, sameContent), slices.Contains(m.spec.approved, m.source.digest):
		return nil
	}
	reasons := append(m.takenByCatalog(next), m.takenFromLive(next)...)
	slices.Sort(reasons)
	return reasons
}

// takenByCatalog returns what the catalog takes away from what is published: what would also be
// gone if nobody had edited the spec since, and what would not be gone by the edit alone.
func (m *model) takenByCatalog(next map[string]app) (reasons []string) {
	unedited, alone := m.reviewed.selects(m.source.apps), m.spec.selects(m.catalog)
	for name, a := range m.published {
		now, stays := next[name]
		_, stayed := unedited[name]
		_, reviewed := alone[name]
		if !stays {
			if !stayed || reviewed {
				reasons = append(reasons, "Removal "+name)
			}
			continue
		}
		for _, v := range a.versions {
			gone := !slices.Contains(unedited[name].versions, v) || slices.Contains(alone[name].versions, v)
			if !slices.Contains(now.versions, v) && gone {
				reasons = append(reasons, "VersionRemoval "+name+" "+v)
			}
		}
	}
	return reasons
}

// takenFromLive returns what would be taken away from definitions that live without being
// published. Flux does not touch those that are bypassed.
func (m *model) takenFromLive(next map[string]app) (reasons []string) {
	for name, a := range next {
		l, lives := m.live[name]
		if _, known := m.published[name]; known || !lives || l.bypassed {
			continue
		}
		for _, v := range l.versions {
			if !slices.Contains(a.versions, v) {
				reasons = append(reasons, "Adoption "+name+" "+v)
			}
		}
	}
	return reasons
}

// prune deletes what left the artifact; what is bypassed stays, and is nobody's from then on.
func (m *model) prune(before map[string]app) {
	for name := range before {
		if _, stays := m.published[name]; stays {
			continue
		}
		if m.live[name].bypassed {
			m.tally["orphaned"]++
			continue
		}
		m.tally["deleted"]++
		delete(m.live, name)
	}
}

// apply creates and updates what is in the artifact, except what is bypassed.
func (m *model) apply() {
	for name, a := range m.published {
		l, lives := m.live[name]
		switch {
		case !lives:
			m.tally["created"]++
			m.live[name] = &liveApp{app: a}
		case sameContent(l.app, a):
		case l.bypassed:
			m.tally["kept by bypass"]++
		default:
			m.tally["updated"]++
			l.app = a
		}
	}
}

// count adds to the tally why the revision is held.
func (m *model) count() {
	for _, reason := range m.held {
		kind, _, _ := strings.Cut(reason, " ")
		m.tally["held by "+kind]++
	}
}

// bypassed returns the names of the bypassed definitions, sorted.
func (m *model) bypassed() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(m.live)) {
		if m.live[name].bypassed {
			names = append(names, name)
		}
	}
	return names
}

// orphans returns the names of what lives without being published, sorted.
func (m *model) orphans() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(m.live)) {
		if _, published := m.published[name]; !published {
			names = append(names, name)
		}
	}
	return names
}
