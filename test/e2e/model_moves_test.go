// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"slices"
	"time"
)

// moveWait is how long a part keeps a definition in its artifact that nobody can receive yet.
const moveWait = 10 * time.Minute

// decision is what becomes of a definition that leaves a part.
type decision int

const (
	nobody    decision = iota // it is deleted
	undecided                 // it stays in the artifact, marked
	decided                   // it leaves the artifact, marked
)

func (d decision) String() string { return [...]string{"removed", "waits for a receiver", "moved"}[d] }

// receiver decides on a definition that leaves a part. over is true once the time for its receivers is over.
func (m *model) receiver(from *modelPart, name string, over bool) decision {
	to := nobody
	if m.tenants && !over {
		to = undecided
	}
	for _, p := range m.parts {
		selects, able := p.wants[name] && !p.unknown(), m.able(p)
		switch {
		case p == from || over && !able:
		case able && selects, over && able && p.mayWant(name):
			return decided
		case p.mayWant(name):
			to = undecided
		}
	}
	return to
}

// able reports whether nothing prevents a part from applying a definition.
func (m *model) able(p *modelPart) bool {
	owns := false
	for _, l := range m.live {
		owns = owns || l.owner == p.applier
	}
	return owns && !p.suspended && len(p.held) == 0
}

// mayWant reports whether a part renders a definition, or may do so once it is resumed or a typo is corrected.
func (p *modelPart) mayWant(name string) bool { return p.wants[name] || p.doubt || p.unknown() }

// unknown reports whether the applications of a part are not known: nobody has rendered the edited spec.
func (p *modelPart) unknown() bool {
	return p.suspended && (p.baseline != baselineRecord || !p.spec.rendersAs(p.reviewed))
}

// isAwaited reports whether others keep definitions until the hold of a part is released. Without its status, it looks able
// to receive them until it is held again: they may be marked by then, or not.
func (m *model) isAwaited(p *modelPart) bool {
	waits := func(o *modelPart) bool { return o != p && len(o.leaving) > 0 }
	return len(p.held) > 0 && slices.ContainsFunc(m.parts, waits)
}

// end returns the end of a wait for a receiver that began at a time. At least half of the wait is of the running process
// ("The states of an object that leaves" in docs/design/safety.md).
func (m *model) end(since time.Time) time.Time {
	seen, end := since, since.Add(moveWait)
	if m.started.After(seen) {
		seen = m.started
	}
	if running := seen.Add(moveWait / 2); running.After(end) {
		return running
	}
	return end
}

// soonest returns the end of the first wait for a receiver, or the zero time. What does not publish goes on waiting.
func (m *model) soonest() (end time.Time) {
	for _, p := range m.parts {
		for _, since := range p.leaving {
			if at := m.end(since); !p.suspended && !p.conflict && len(p.held) == 0 && (end.IsZero() || at.Before(end)) {
				end = at
			}
		}
	}
	return end
}
