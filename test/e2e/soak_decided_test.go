// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// decided compares the status of a selection with the model.
func (o *observed) decided(m *model, p *modelPart, cs *v1alpha1.CatalogSelection) error {
	reason := conditions.GetReason(cs, meta.ReadyCondition)
	if w := cs.Status.Withheld; w != "" && !neverServed(p, w) && !m.mayWithhold(p, cs) {
		return fmt.Errorf("withheld by %s", cs.Status.Withheld)
	}
	if slices.Equal(p.held, []string{empty}) {
		if reason != empty || cs.Status.Held != nil {
			return fmt.Errorf("Ready for %s, want %s", reason, empty)
		}
		return nil
	}
	if p.waits && reason == v1alpha1.HandoverReason && conditions.IsReconciling(cs) { // status.held may be that of before
		return nil
	}
	if got := p.heldLines(cs.Status.Held); !slices.Equal(got, p.held) {
		return fmt.Errorf("held until lines name %q, want %q", got, p.held)
	}
	switch {
	case len(p.held) > 0:
		return o.decidedHeld(m, p, cs)
	case p.waits && !m.contested(p):
		return fmt.Errorf("Ready for %s, though others may be about to claim what it gives up", reason)
	case p.conflict && reason == v1alpha1.ConflictReason && conditions.IsStalled(cs):
		return nil
	case p.conflict && !p.unaware, !conditions.IsReady(cs):
		return fmt.Errorf("Ready for %s, in conflict: %t", reason, p.conflict)
	}
	return o.decidedPublished(m, p, cs)
}

// mayWithhold reports whether a selection is withheld because another one holds what it serves, which it finds once it is
// reconciled, or has held it since the last publication. A status that was lost since does not say so.
func (m *model) mayWithhold(p *modelPart, cs *v1alpha1.CatalogSelection) bool {
	return m.yields(p) && (cs.Status.Withheld == v1alpha1.ConflictReason || cs.Status.Artifact == nil || p.vanished)
}

// neverServed reports whether a selection without a publication was rendered before its Kustomization referred to it.
func neverServed(p *modelPart, withheld string) bool {
	return withheld == v1alpha1.NoConsumerReason && p.baseline == baselineNone
}

func (o *observed) decidedHeld(m *model, p *modelPart, cs *v1alpha1.CatalogSelection) error {
	if want := m.catalogs[p.catalog].String(); cs.Status.Held.Revision != want {
		return fmt.Errorf("held is %s, want %s", cs.Status.Held.Revision, want)
	}
	if ready := conditions.IsReady(cs); ready != (p.baseline == baselineRecord) && !m.mayWithhold(p, cs) {
		return fmt.Errorf("Ready is %t while held", ready)
	}
	if p.held[0] == lost && !conditions.IsTrue(cs, v1alpha1.HeldCondition) {
		return errors.New("status.held is of an earlier spec, and so is its checksum")
	}
	for _, line := range cs.Status.Held.Approve {
		if p.held[0] == lost {
			m.renders[bodyOf(line)] = p.render(p.spec.selects(m.catalogs[p.catalog].apps))
		} else if want := p.numbered(bodyOf(line)); line != want {
			return fmt.Errorf("released by %s, want %s", line, want)
		}
	}
	return nil
}

func (o *observed) decidedPublished(m *model, p *modelPart, cs *v1alpha1.CatalogSelection) error {
	if s := cs.Status.Sources; len(s) != 1 || s[0].Revision != m.catalogs[p.catalog].String() {
		return fmt.Errorf("it is at %+v, want %s", s, m.catalogs[p.catalog])
	}
	var published, want []string
	for _, a := range cs.Status.Applications {
		published = append(published, fmt.Sprint(strings.TrimPrefix(a.Name, soakName+"-"), a.Versions))
	}
	for _, name := range slices.Sorted(maps.Keys(p.published)) {
		want = append(want, fmt.Sprint(name, p.published[name].versions))
	}
	if !slices.Equal(published, want) {
		return fmt.Errorf("published are %v, want %v", published, want)
	}
	lines := map[string]bool{}
	for _, a := range cs.Status.Approvals {
		lines[a.Line] = a.Used != nil
	}
	if !maps.Equal(lines, p.lines) {
		return fmt.Errorf("the lines are %v, want %v", lines, p.lines)
	}
	var bypassed []string
	for _, name := range cs.Status.Bypassed {
		if name = strings.TrimPrefix(name, soakName+"-"); p.inventory[name] { // other definitions have no holder
			bypassed = append(bypassed, name)
		}
	}
	if slices.Sort(bypassed); !slices.Equal(bypassed, m.bypassedOf(p)) {
		return fmt.Errorf("bypassed are %v, want %v", bypassed, m.bypassedOf(p))
	}
	if !p.paused && !conditions.IsTrue(cs, v1alpha1.AppliedCondition) {
		return errors.New("not applied")
	}
	return nil
}

// heldLines returns the lines that would release what is held, as the model has them.
func (p *modelPart) heldLines(status *v1alpha1.HeldStatus) (lines []string) {
	if status == nil {
		return nil
	}
	for _, line := range status.Approve {
		if lines = append(lines, bodyOf(line)); strings.HasPrefix(line, "sha256:") {
			return []string{lost}
		}
	}
	slices.Sort(lines)
	return lines
}
