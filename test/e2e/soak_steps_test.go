// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// recover often does what people do about the state after the last step. It returns "" if it did
// nothing.
func (k *soak) recover() string {
	if k.model.tenants && k.rand.IntN(3) == 0 {
		return k.dismissTenant()
	}
	for _, p := range k.model.parts {
		switch {
		case p.paused && (k.model.contested(p) && !p.withheld || p.baseline == baselineLost): // Flux may apply before the artifact is withheld, or fails
		case (p.suspended || p.paused) && k.rand.IntN(3) == 0:
			again := p.paused // Flux then applies again, with or without a new revision
			p.suspended, p.paused = false, false
			k.write(p)
			k.model.apply(p, again)
			return "resume " + p.name
		case p.suspended:
		case len(p.held) > 0 && len(p.spec.selects(k.model.catalogs[p.catalog].apps)) == 0:
			if k.rand.IntN(2) == 0 {
				p.spec.tiers = []string{"gold", "silver"}
				return k.growPart(p)
			}
		case len(p.held) > 0 && k.rand.IntN(3) == 0:
			return k.approveHeld(p)
		case p.conflict && k.rand.IntN(4) == 0:
			return k.giveWay(p)
		}
	}
	return ""
}

// giveWay removes from the names of a part those that others hold.
func (k *soak) giveWay(p *modelPart) string {
	own := slices.DeleteFunc(slices.Clone(p.spec.names), func(name string) bool {
		h := k.model.holder(name)
		return h != nil && h != p
	})
	if len(own) == 0 {
		return ""
	}
	for _, name := range p.spec.names {
		if !slices.Contains(own, name) {
			k.nameOften(p, name)
		}
	}
	p.spec.names = own
	k.write(p)
	return fmt.Sprintf("%s gives way and has %v", p.name, own)
}

// release points Flux to another revision.
func (k *soak) release() string {
	catalog := pick(k, []string{"first", "first", "second"})
	revision, did := k.drawRevision(catalog)
	k.pointTo(catalog, revision)
	k.awaitPulled(catalog)
	return did
}

// flip sets or removes the bypass label of a live definition.
func (k *soak) flip() string {
	if len(k.model.live) == 0 {
		return k.release()
	}
	name, did := k.drawFlip()
	k.setBypass(name)
	return did
}

// edit changes a spec as Git would.
func (k *soak) edit() string {
	p := k.drawPart()
	did, mutate := k.drawEdit(p)
	mutate(&p.spec)
	k.write(p)
	return did
}

// moveOne moves the name of an application from one part to another, by one commit.
func (k *soak) moveOne() string {
	from, to := k.drawTwo()
	if len(from.spec.names) < 2 {
		from, to = to, from
	}
	if len(from.spec.names) < 2 {
		return k.release()
	}
	name := pick(k, from.spec.names)
	from.spec.names, to.spec.names = without(from.spec.names, name), with(to.spec.names, name)
	k.nameOften(from, name)
	k.write(from, to)
	return fmt.Sprintf("move %s from %s to %s", name, from.name, to.name)
}

// nameOften lets the commit that takes an application from a part name that, or forget to.
func (k *soak) nameOften(p *modelPart, name string) {
	if k.rand.IntN(4) > 0 {
		p.spec.approved = with(p.spec.approved, p.numbered(catalogName(p.catalog, name)))
	}
}

// swap exchanges names between two parts.
func (k *soak) swap() string {
	a, b := k.drawTwo()
	x, y := pick(k, a.spec.names), pick(k, b.spec.names)
	a.spec.names = with(without(a.spec.names, x), y)
	b.spec.names = with(without(b.spec.names, y), x)
	k.nameOften(a, x)
	k.nameOften(b, y)
	k.write(a, b)
	return fmt.Sprintf("swap %s of %s and %s of %s", x, a.name, y, b.name)
}

// contend edits a part to select an application of another one.
func (k *soak) contend() string {
	from, to := k.drawTwo()
	name := pick(k, from.spec.names)
	to.spec.names = with(to.spec.names, name)
	k.write(to)
	return fmt.Sprintf("%s wants %s of %s", to.name, name, from.name)
}

// grow edits a part to select an application that no part names.
func (k *soak) grow() string { return k.growPart(k.drawPart()) }

func (k *soak) growPart(p *modelPart) string {
	for _, letter := range strings.Split("abcdefgh", "") {
		named := func(p *modelPart) bool { return slices.Contains(p.spec.names, letter) }
		if !slices.ContainsFunc(k.model.parts, named) {
			p.spec.names = with(p.spec.names, letter)
		}
	}
	p.spec.excluded = nil
	k.write(p)
	return fmt.Sprintf("%s grows to %v", p.name, p.spec.names)
}

// approveHeld adds the lines of status.held.approve to a held selection.
func (k *soak) approveHeld(p *modelPart) string {
	lines := k.heldLines(p)
	for _, line := range lines {
		p.spec.approved = with(p.spec.approved, line)
	}
	k.write(p)
	return fmt.Sprintf("approve %s in %s", strings.Join(lines, ", "), p.name)
}

// approveAny adds a line for what may be lost later.
func (k *soak) approveAny() string {
	p := k.drawPart()
	line := catalogName(p.catalog, k.drawName()) + pick(k, []string{"", "/*", "/1.0.0", "/1.1.0#2"})
	if p.spec.approved = with(p.spec.approved, line); len(p.spec.approved) > 60 {
		p.spec.approved = nil
	}
	k.write(p)
	return "approve " + line + " in " + p.name
}

// atOnce changes the spec and the revision before the controller observes either.
func (k *soak) atOnce() string {
	p := k.drawPart()
	edited, mutate := k.drawEdit(p)
	revision, released := k.drawRevision(p.catalog)
	suspended := p.suspended
	p.suspended = true
	k.write(p)
	k.awaitSuspended(p)
	k.pointTo(p.catalog, revision)
	k.awaitPulled(p.catalog)
	mutate(&p.spec)
	p.suspended, p.late = suspended, !suspended
	k.write(p)
	return "at once: " + edited + ", " + released
}

// reapplyOne requests a reconciliation of a Kustomization without a change.
func (k *soak) reapplyOne() string {
	p := k.drawPart()
	if p.paused || !k.model.fetched(p) {
		return k.release()
	}
	k.requests++
	k.requestReconcile(p)
	k.model.apply(p, true)
	return "reapply " + p.applier
}

// rename creates the selection with another name, changes the source of its Kustomization and deletes
// the old selection, by one commit.
func (k *soak) rename() string {
	p := k.drawPart()
	old := p.name
	k.requests++
	p.name = fmt.Sprintf("%s-%d", p.applier, k.requests)
	return fmt.Sprintf("rename %s to %s%s", old, p.name, k.anew(p, old))
}

// recreate deletes a selection and creates it again, while its Kustomization stays.
func (k *soak) recreate() string {
	p := k.drawPart()
	former := p.clone()
	k.remove(k.selectionOf(p.name))
	did := "create " + p.name + " again" + k.anew(p, "")
	p.former = former
	return did
}

// anew creates the selection of a part, often with another spec, and drops its status in the model.
func (k *soak) anew(p *modelPart, gone string) (did string) {
	p.spec.approved, p.suspended = nil, false
	if k.rand.IntN(2) == 0 {
		edited, mutate := k.drawEdit(p)
		mutate(&p.spec)
		did = ", " + edited
	}
	p.written, p.doubt, p.withheld, p.vanished, p.older, p.newer, p.behind = "", false, false, false, nil, false, false
	p.baseline, p.published, p.lines, p.read, p.revision, p.revisions = baselineNone, nil, nil, "", "", nil
	p.waiting, p.waits, p.changed = time.Time{}, false, time.Now()
	k.write(p)
	if gone != "" {
		k.delete(gone)
	}
	return did
}

// wipe removes the whole status of a selection, and requests its reconciliation.
func (k *soak) wipe() string {
	p := k.drawPart()
	if p.suspended || p.baseline == baselineLost {
		return k.release()
	}
	k.of(p.name).wipeStatus()
	k.requests++
	k.of(p.name).nudge(fmt.Sprint("wiped ", k.requests))
	k.model.wipe(p)
	return "wipe the status of " + p.name
}

// suspend suspends a selection without errors or holds.
func (k *soak) suspend() string {
	p := k.drawPart()
	if p.conflict || len(p.held) > 0 || p.suspended {
		return k.release()
	}
	p.suspended = true
	k.write(p)
	k.awaitSuspended(p)
	return "suspend " + p.name
}

// pause suspends a Kustomization.
func (k *soak) pause() string {
	p := k.drawPart()
	p.paused = true
	k.write(p)
	return "suspend the Kustomization " + p.applier
}

// whileDown stops the controller, runs other steps, and starts it, often with an empty data
// directory.
func (k *soak) whileDown() string {
	did := []string{"while down"}
	if err := system.controller.Stop(); err != nil {
		k.t.Fatal(err)
	}
	if k.rand.IntN(3) > 0 && len(k.model.live) > 0 {
		name, flipped := k.drawFlip()
		k.setBypass(name)
		did = append(did, flipped)
	}
	catalog := pick(k, []string{"first", "second"})
	revision, released := k.drawRevision(catalog)
	k.pointTo(catalog, revision)
	k.awaitPulled(catalog)
	did = append(did, released)
	if k.rand.IntN(2) == 0 {
		p := k.drawPart()
		edited, mutate := k.drawEdit(p)
		mutate(&p.spec)
		k.write(p)
		did = append(did, edited)
	}
	suspended := slices.ContainsFunc(k.model.parts, func(p *modelPart) bool { return p.suspended })
	archivesLost := !suspended && k.rand.IntN(2) == 0
	k.model.restart(archivesLost)
	if archivesLost {
		k.dataDir = ""
		did = append(did, "with an empty data directory")
	}
	if err := system.restart(k.t.Context(), soakOptions(k.dataDir)); err != nil {
		k.t.Fatal(err)
	}
	k.dataDir = system.controller.DataDir
	return k.reconsider(strings.Join(did, ", "))
}
