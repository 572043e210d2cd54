// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"fmt"
	"maps"
	"slices"
)

// step draws a step, and returns what it was.
func (m *model) step() (string, error) {
	steps := []struct {
		weight int
		run    func() (string, error)
	}{
		{36, m.reconcileSpokes},
		{6, m.drawRelease},
		{14, func() (string, error) { return "the hub reconciles", m.reconcileHubs() }},
		{5, m.disturb},
		{10, m.promote},
		{3, m.editByHand},
		{3, m.moveSeveral},
		{3, m.pinCluster},
		{3, m.rollBack},
		{2, m.copyStage},
		{2, m.approveBefore},
		{1, m.suspend},
		{7, m.editSelection},
		{2, m.mergeKept},
		{1, m.editSpoke},
		{2, m.approveAtSpoke},
	}
	drawn := m.rand.IntN(100)
	for _, s := range steps {
		if drawn -= s.weight; drawn < 0 {
			return s.run()
		}
	}
	return m.reconcileSpokes()
}

// reconcileSpokes lets Flux of some spokes pull and apply; some pull only, and apply later.
func (m *model) reconcileSpokes() (string, error) {
	m.store.down = m.chance(5)
	defer func() { m.store.down = false }()
	for _, s := range m.spokes {
		if !m.chance(40) {
			continue
		}
		if err := m.fetch(m.t.Context(), s); err != nil {
			return s.name + " pulls", err
		}
		if m.chance(25) {
			continue
		}
		if err := m.apply(s); err != nil {
			return s.name + " applies", err
		}
	}
	return "the spokes reconcile", nil
}

// names and versions of the catalogs.
var (
	names    = []string{"a", "b", "c", "d", "e", "f"}
	versions = []string{"1.0.0", "1.1.0", "2.0.0", "2.1.0", "3.0.0"}
)

// drawRelease moves the tag of the catalog to another revision.
func (m *model) drawRelease() (string, error) {
	m.count["releases of the catalog"]++
	if m.chance(25) {
		m.release(pick(m, m.releases))
		return "an earlier catalog", nil
	}
	next := m.catalog.content.clone()
	for range 1 + m.rand.IntN(2) {
		name, version := pick(m, names), pick(m, versions)
		has := slices.Contains(next[name], version)
		switch {
		case m.chance(15):
			m.note++
		case m.chance(10) && len(next) > 2:
			delete(next, name)
		case !has:
			next[name] = append(next[name], version)
			slices.Sort(next[name])
		case len(next[name]) > 1 && m.chance(50):
			next[name] = slices.DeleteFunc(next[name], func(v string) bool { return v == version })
		}
	}
	m.release(next)
	return fmt.Sprintf("a catalog with %v", next), nil
}

// disturb isolates or stops spokes, or takes artifacts out of the registry, and puts them back.
func (m *model) disturb() (string, error) {
	s := pick(m, m.spokes)
	switch m.rand.IntN(8) {
	case 0:
		s.isolated = !s.isolated
	case 1:
		s.stopped = !s.stopped
	case 2:
		s.source = nil // source-controller has lost its disk
	case 3:
		m.store.gone[pick(m, m.digests)] = true
		m.count["artifacts that the registry loses"]++
	default:
		for _, digest := range slices.Sorted(maps.Keys(m.store.gone)) {
			if m.chance(90) {
				delete(m.store.gone, digest)
			}
		}
	}
	return "a fault", nil
}

// editSpoke lets an admin of a spoke edit a definition, or mark one.
func (m *model) editSpoke() (string, error) {
	s := pick(m, m.spokes)
	has := slices.Sorted(maps.Keys(s.Live()))
	if len(has) == 0 {
		return "no edit", nil
	}
	name := pick(m, has)
	switch m.rand.IntN(4) {
	case 0:
		s.Edit(name, "admin", reconcileAnnotation, disabled)
	case 1:
		s.Edit(name, "admin", reconcileAnnotation, nil)
	default:
		s.Edit(name, "admin", "spec.description", "Of an admin.")
	}
	return "an admin edits " + name + " on " + s.name, nil
}

// approveAtSpoke lets Git of a spoke with the policy name what that refuses, or something else, or nothing any more.
func (m *model) approveAtSpoke() (string, error) {
	s := pick(m, slices.DeleteFunc(slices.Clone(m.spokes), func(s *spoke) bool { return !s.guarded }))
	switch {
	case m.chance(20) || s.source == nil:
		s.lines = nil
	case m.chance(20):
		s.lines = with(s.lines, m.drawLine())
	default:
		_, refused := s.admitted(m.objects[s.source.digest])
		s.lines = with(s.lines, refused...)
	}
	return fmt.Sprintf("%s has the lines %v", s.name, s.lines), nil
}
