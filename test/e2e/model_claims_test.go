// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"maps"
	"slices"
	"time"
)

// orders are those in which the parts claim definitions.
var orders = [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}

// outcomes returns the states that the model may settle in. What is not defined is the order of claims for definitions without
// a holder, how far the others are when a part is resumed, and whether the ExternalArtifact of a selection that was created
// again is taken back.
func (m *model) outcomes() (all []*model) {
	plain := m.clone()
	starts := []*model{plain}
	for i, p := range m.parts {
		if plain.parts[i].former, plain.parts[i].late = nil, false; p.former != nil {
			taken := plain.clone()
			taken.parts[i].former = p.former
			taken.takeBack(taken.parts[i])
			starts = append(starts, taken)
		}
		if p.late {
			for _, order := range orders {
				others := plain.clone()
				others.parts[i].suspended = true
				others.settle(order)
				others.parts[i].suspended = false
				starts = append(starts, others)
			}
		}
	}
	for _, start := range starts {
		for _, order := range orders {
			after := start.clone()
			after.settle(order)
			same := func(o *model) bool { return o.String() == after.String() }
			if !slices.ContainsFunc(all, same) {
				all = append(all, after)
			}
		}
	}
	return all
}

// settle publishes and applies until the model no longer changes. order is the order in which parts claim
// definitions without a holder.
func (m *model) settle(order []int) {
	for before := ""; before != m.String(); {
		before = m.String()
		m.decide(order)
		for _, p := range m.parts {
			m.apply(p, false)
		}
		m.protect()
		m.endMoves()
	}
}

// decide publishes the parts that neither a safeguard nor a claim of another part prevents.
func (m *model) decide(order []int) {
	next := map[*modelPart]map[string]app{}
	for _, i := range order {
		p := m.parts[i]
		if p.suspended {
			continue
		}
		render := p.spec.selects(m.catalogs[p.catalog].apps)
		p.held, p.conflict, p.unaware, p.wants = m.objections(p, render), false, false, keysOf(render)
		p.doubt = m.addsUnknown(p)
		if len(p.held) == 0 {
			next[p] = render
		}
	}
	for _, i := range order {
		p := m.parts[i]
		if render, proposed := next[p]; !p.suspended {
			if p.waits = proposed && m.awaits(p, render); p.waits {
				delete(next, p)
			}
		}
	}
	admitted := m.admittedOf(order, next)
	for _, i := range order {
		p := m.parts[i]
		if render, proposed := next[p]; proposed && !admitted[p] && (m.contested(p) || !p.keeps(render)) {
			p.conflict, p.unaware = true, p.keeps(render)
		} else if proposed {
			m.publish(p, render)
		}
	}
}

// keeps reports whether a render is published already: it claims nothing anew.
func (p *modelPart) keeps(render map[string]app) bool {
	return p.baseline == baselineRecord && p.render(render) == p.render(p.published)
}

func keysOf[V any](of map[string]V) map[string]bool {
	keys := map[string]bool{}
	for name := range of {
		keys[name] = true
	}
	return keys
}

// admittedOf returns the parts that may publish: the holders of their definitions give them up at the same
// time, and a definition without a holder goes to the first part.
func (m *model) admittedOf(order []int, next map[*modelPart]map[string]app) map[*modelPart]bool {
	admitted := map[*modelPart]bool{}
	for p := range next {
		admitted[p] = true
	}
	for changed := true; changed; {
		changed = false
		taken := map[string]*modelPart{}
		for _, i := range order {
			p := m.parts[i]
			if admitted[p] && m.blocked(p, next, admitted, taken) {
				delete(admitted, p)
				changed = true
				break
			}
		}
	}
	return admitted
}

// blocked reports whether a part renders a definition that another one keeps, and records those it takes.
func (m *model) blocked(p *modelPart, next map[*modelPart]map[string]app, admitted map[*modelPart]bool, taken map[string]*modelPart) bool {
	for name := range next[p] {
		if p.publishes(name) && p.baseline == baselineRecord && m.owner(name) == nil { // it enters nothing, whoever publishes it as well
			continue
		}
		h := m.holder(name)
		if t := taken[name]; h != p && t != nil && !m.squats(t, p) {
			return true
		}
		if h != nil && h != p && !m.squats(h, p) && !m.givesUp(h, name, next, admitted) {
			return true
		}
	}
	for name := range next[p] {
		if !m.dormant(p) {
			taken[name] = p
		}
	}
	return false
}

// dormant reports whether the Kustomization of a part is suspended and owns nothing: then the part reserves nothing.
func (m *model) dormant(p *modelPart) bool { return p.paused && !m.owns(p) }

// squats reports whether a part that owns nothing reserves what one wants that owns something.
func (m *model) squats(p, by *modelPart) bool { return m.owns(by) && !m.owns(p) }

func (m *model) owns(p *modelPart) bool {
	owned := func(l *liveApp) bool { return l.owner == p.applier }
	return slices.ContainsFunc(slices.Collect(maps.Values(m.live)), owned)
}

// holder returns the part that holds a definition: the one whose Kustomization has applied it last and has
// it in its inventory, or else the one whose status has published it. A lost status has published nothing: its part claims anew, as the
// others do.
func (m *model) holder(name string) *modelPart {
	if owner := m.owner(name); owner != nil {
		return owner
	}
	for _, p := range m.parts {
		if _, serves := p.published[name]; (serves && p.baseline == baselineRecord || p.older.publishes(name)) && !m.dormant(p) {
			return p
		}
	}
	return nil
}

func (m *model) owner(name string) *modelPart {
	for _, p := range m.parts {
		if l, lives := m.live[name]; lives && l.owner == p.applier && p.inventory[name] {
			return p
		}
	}
	return nil
}

// contested reports whether a part serves what another one owns and has not given up.
func (m *model) contested(p *modelPart) bool {
	for name := range p.published {
		if owner := m.owner(name); owner != nil && owner != p && !owner.gaveUp(name) {
			return true
		}
	}
	return false
}

// yields reports whether a part serves nothing because of a conflict, or is about to.
func (m *model) yields(p *modelPart) bool { return p.withheld || m.contested(p) }

// fetched reports whether Flux can fetch what a part has published: nothing withholds it, and its archive is not lost.
func (m *model) fetched(p *modelPart) bool {
	return p.served() && p.baseline != baselineLost && !m.yields(p)
}

// gaveUp reports whether a part has published without a definition, and is not about to publish it. A status that is older than what
// is served has given up nothing that it has.
func (p *modelPart) gaveUp(name string) bool {
	_, serves := p.published[name]
	return p.knowsServed() && !serves && !p.older.publishes(name) && (p.suspended || len(p.held) > 0 || !p.wants[name] || p.waits)
}

// givesUp reports whether a holder has given up a definition, or does so in a render that is admitted.
func (m *model) givesUp(h *modelPart, name string, next map[*modelPart]map[string]app, admitted map[*modelPart]bool) bool {
	_, keeps := next[h][name]
	return h.gaveUp(name) || admitted[h] && !keeps
}

// publish replaces the artifact of a part. It first marks definitions that Flux would delete and another
// part renders or may render, and those that it takes over from another Kustomization. It removes the
// mark of definitions that Flux shall delete.
func (m *model) publish(p *modelPart, next map[string]app) {
	m.use(p, next)
	p.waiting = time.Time{}
	for _, name := range m.leavingOf(p, next) {
		to := m.receiver(p, name)
		_, served := p.published[name]
		if l := m.live[name]; to == decided || served && p.isRecorded() && !l.bypassed {
			l.kept = to == decided
		}
		m.tally[to.String()]++
	}
	for name := range next { // until its Kustomization is the owner, which it never is of a bypassed definition
		// An unchanged render receives nothing anew: what a giver may delete since has passed its safeguards
		// (docs/design/safety.md, the state "removed" of an object that leaves).
		if l, lives := m.live[name]; lives && l.owner != p.applier && (p.withheld || !p.keeps(next)) {
			l.kept = true
		}
	}
	catalog := m.catalogs[p.catalog]
	if p.revisions == nil || p.baseline != baselineRecord && !p.newer {
		p.revisions = map[string]bool{}
	}
	p.restarted, p.withheld, p.vanished, p.older = false, false, false, nil
	p.newer, p.behind = false, false
	p.baseline, p.published, p.reviewed, p.revision = baselineRecord, next, p.spec.clone(), catalog.digest
	p.revisions[p.artifact()] = true
	p.compared = p.applied
}

// isRecorded reports whether the status is that of the last publication.
func (p *modelPart) isRecorded() bool { return p.baseline == baselineRecord && !p.behind }

// knowsServed reports whether the objects of the Kustomization are known, so that its other objects
// are orphans.
func (p *modelPart) knowsServed() bool {
	return p.baseline == baselineRecord || p.baseline == baselineContent && !p.restarted
}

// apply applies the served artifact by the Kustomization of a part: it creates and updates definitions
// without a bypass, and prunes those that left, have its labels and are not protected. Of an artifact that is withheld, Flux
// applies nothing until it is served again.
func (m *model) apply(p *modelPart, again bool) {
	if p.paused || !p.served() {
		return
	}
	p.missed = p.missed || again
	if p.withheld || p.applied == p.artifact() && !p.missed {
		return
	}
	p.missed = false
	before := p.inventory
	p.inventory, p.applied = keysOf(p.published), p.artifact()
	for name, a := range p.published {
		l, lives := m.live[name]
		switch {
		case !lives:
			m.tally["created"]++
			m.live[name] = &liveApp{app: a, owner: p.applier}
		case l.bypassed:
			m.tally["kept by bypass"]++
		default:
			l.app, l.owner = a, p.applier
		}
	}
	for name := range before {
		l, lives := m.live[name]
		if p.inventory[name] || !lives || l.owner != p.applier {
			continue
		}
		if l.bypassed || l.kept {
			m.tally["orphaned, or moving"]++
			continue
		}
		m.tally["deleted"]++
		delete(m.live, name)
	}
}

// protect marks what a part has given up, and its Kustomization, which is paused, has not deleted, once another part claims it.
func (m *model) protect() {
	for name, l := range m.live {
		for _, p := range m.parts {
			_, serves := p.published[name]
			if p.inventory[name] && l.owner == p.applier && !serves && p.knowsServed() && !l.kept && m.receiver(p, name) == decided {
				l.kept = true
				m.tally["protected later"]++
			}
		}
	}
}

// endMoves removes the marks of definitions that the receiver has applied and no other inventory contains.
func (m *model) endMoves() {
	for name, l := range m.live {
		for _, p := range m.parts {
			_, serves := p.published[name]
			ended := l.owner == p.applier && serves && p.applied == p.artifact()
			elsewhere := func(o *modelPart) bool { return o != p && o.inventory[name] }
			if l.kept && ended && !slices.ContainsFunc(m.parts, elsewhere) {
				l.kept = false
			}
		}
	}
}
