// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"slices"
	"time"
)

// receiverPatience is how long a giver waits for selections that are not evaluated.
const receiverPatience = 10 * time.Minute

// decision is what becomes of a definition that leaves a part.
type decision int

const (
	nobody    decision = iota // it is deleted
	undecided                 // the part waits
	decided                   // it leaves the artifact, marked
)

func (d decision) String() string { return [...]string{"removed", "waits for a receiver", "moved"}[d] }

// receiver decides on a definition that leaves a part.
func (m *model) receiver(from *modelPart, name string) decision {
	for _, p := range m.parts {
		if p != from && m.claims(p, name) {
			return decided
		}
	}
	if m.now.Before(m.end(from)) {
		return undecided
	}
	return nobody
}

// claims reports whether a part publishes a definition, or is about to. While its status is older than what is published, the definitions
// of that status count: which of them are published may not be known.
func (m *model) claims(p *modelPart, name string) bool {
	_, publishes := p.published[name]
	return publishes && !p.withheld || p.wants[name] && !p.suspended || p.older.publishes(name)
}

func (p *modelPart) publishes(name string) bool {
	return p != nil && !p.withheld && p.published[name].name != ""
}

// isUndecided reports whether a part may be about to claim any definition: its spec is not evaluated, or has a name without a match.
func (p *modelPart) isUndecided() bool {
	return p.suspended || slices.Equal(p.held, []string{empty}) || p.doubt
}

// end returns when a part that gives something up no longer waits for others; the zero time without any that it would wait for.
func (m *model) end(from *modelPart) (end time.Time) {
	if m.tenants {
		end = m.admitted.Add(receiverPatience)
	}
	for _, p := range m.parts {
		if over := p.changed.Add(receiverPatience); p != from && p.isUndecided() && over.After(end) {
			end = over
		}
	}
	if since := from.waiting; !since.IsZero() && since.Add(receiverPatience).Before(end) {
		return since.Add(receiverPatience)
	}
	return end
}

// leavingOf returns the definitions that a part gives up with its next render. While its status is lost, or older than what is
// published, these are all that have the labels of its Kustomization, whatever the inventory has: the labels tell what Flux has applied
// ("the owner of a live object" in docs/design/safety.md). So one that Flux has forgotten can make the part wait.
func (m *model) leavingOf(p *modelPart, next map[string]app) (names []string) {
	for name, l := range m.live {
		_, served := p.published[name]
		if _, selected := next[name]; !selected && l.owner == p.applier && (served || !p.isRecorded()) {
			names = append(names, name)
		}
	}
	return names
}

// awaits reports whether a part waits with its next render, because another one may be about to claim what leaves it, and Flux would
// delete that.
func (m *model) awaits(p *modelPart, next map[string]app) bool {
	leaving := slices.DeleteFunc(m.leavingOf(p, next), func(name string) bool { return m.live[name].bypassed })
	if len(leaving) == 0 {
		p.waiting = time.Time{}
	} else if p.waiting.IsZero() {
		p.waiting = m.now
	}
	return slices.ContainsFunc(leaving, func(name string) bool { return m.receiver(p, name) == undecided })
}

// soonest returns the end of the first wait for others, or the zero time.
func (m *model) soonest() (end time.Time) {
	for _, p := range m.parts {
		if at := m.end(p); p.waits && !p.suspended && (end.IsZero() || at.Before(end)) {
			end = at
		}
	}
	return end
}
