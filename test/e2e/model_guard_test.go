// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// objections returns the reasons why the next applications of a part are held, sorted and without duplicates:
//
//	nothing is selected            EmptyResult, which cannot be approved
//	all reasons are approved       nothing
//	the served state is unknown    BaselineLost
//	otherwise                      losses by the catalog, objects that the Kustomization would delete
//	                               without a comparison, losses of live definitions that enter
func (m *model) objections(p *modelPart, next map[string]app) []string {
	if len(next) == 0 {
		return []string{"EmptyResult"}
	}
	reasons := []string{"BaselineLost"}
	isAnnounced := (p.newer || !p.withheld) && p.render(next) == p.artifact() // so that nothing is lost, whatever that had
	if p.baseline != baselineLost || isAnnounced {
		reasons = slices.Concat(p.takenByCatalog(next), m.takenFromLive(p, next), p.pruned(next), m.unknownNames(p, next))
	}
	if m.approved(p, next, reasons) {
		return nil
	}
	slices.Sort(reasons)
	return slices.Compact(reasons)
}

// approved reports whether an unused entry names the render, or the revision of the catalog if that causes all reasons
// alone.
func (m *model) approved(p *modelPart, next map[string]app, reasons []string) bool {
	return slices.ContainsFunc(p.spec.approved, func(entry string) bool {
		sum, note, _ := strings.Cut(entry, "#")
		return !slices.Contains(p.used, entry) &&
			(m.renders[sum] == p.render(next) && (!p.forgets() || isUID.MatchString(note)) ||
				sum == m.catalogs[p.catalog].digest && m.byRevision(p, reasons))
	})
}

// useUpOutdated uses up the approvals of the next render, or revision, that were in the spec before the published revision.
func (m *model) useUpOutdated(p *modelPart, next map[string]app) {
	digest := m.catalogs[p.catalog].digest
	if len(next) == 0 || !p.hasRecord() || p.revision == digest {
		return
	}
	for _, entry := range p.spec.approved {
		sum, _, _ := strings.Cut(entry, "#")
		if slices.Contains(p.standing, entry) && (m.renders[sum] == p.render(next) || sum == digest && !p.newer && !p.behind) {
			p.used = with(p.used, entry)
		}
	}
}

// hasRecord reports whether the status has the record of a publication, be it of an older one.
func (p *modelPart) hasRecord() bool {
	return p.revision != "" && (p.baseline == baselineRecord || p.newer)
}

// isUID matches the first digits of the UID of a selection.
var isUID = regexp.MustCompile("^[0-9a-f]{8}$")

// forgets reports whether nobody knows which approvals are used up: nothing of this selection, or of its status, is left,
// and its Kustomization has applied something.
func (p *modelPart) forgets() bool { return p.revision == "" && p.applied != "" }

// byRevision reports whether the revision of the catalog causes all reasons alone: the spec of the last publication loses
// as much over it.
func (m *model) byRevision(p *modelPart, reasons []string) bool {
	catalog := m.catalogs[p.catalog]
	if p.baseline != baselineRecord || p.behind || p.revision == "" || p.revision == catalog.digest {
		return false
	}
	alone := p.lost(p.reviewed.selects(catalog.apps))
	return !slices.ContainsFunc(reasons, func(reason string) bool {
		of := strings.Fields(reason + " -")
		whole := of[0] == "VersionRemoval" && slices.Contains(alone, "Removal "+of[1])
		return !whole && !slices.Contains(alone, reason)
	})
}

// lost returns the losses of the published applications.
func (p *modelPart) lost(next map[string]app) (reasons []string) {
	for name, a := range p.published {
		now, stays := next[name]
		if !stays {
			reasons = append(reasons, "Removal "+name)
		}
		for _, v := range a.versions {
			if stays && !slices.Contains(now.versions, v) {
				reasons = append(reasons, "VersionRemoval "+name+" "+v)
			}
		}
	}
	return reasons
}

// takenByCatalog returns the losses of the published applications, except those that the new spec over
// the catalog of the last publication has, too.
func (p *modelPart) takenByCatalog(next map[string]app) (reasons []string) {
	excused := func(string, string) bool { return false }
	if p.baseline == baselineRecord && !p.spec.rendersAs(p.reviewed) {
		alone := p.spec.selects(p.seen)
		excused = func(name, version string) bool {
			a, stays := alone[name]
			return !stays || version != "" && !slices.Contains(a.versions, version)
		}
	}
	for name, a := range p.published {
		now, stays := next[name]
		if !stays && !excused(name, "") {
			reasons = append(reasons, "Removal "+name)
		}
		for _, v := range a.versions {
			if stays && !slices.Contains(now.versions, v) && !excused(name, v) {
				reasons = append(reasons, "VersionRemoval "+name+" "+v)
			}
		}
	}
	return reasons
}

// takenFromLive returns the losses of live definitions that the part has not published. Flux does not
// update those with a bypass.
func (m *model) takenFromLive(p *modelPart, next map[string]app) (reasons []string) {
	for name, a := range next {
		l, lives := m.live[name]
		if _, known := p.published[name]; known || !lives || l.bypassed {
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

// unknownNames returns UnknownName if an edit removes a published application and adds a name to the limit
// that is in no catalog now, and was neither a tier nor published then.
func (m *model) unknownNames(p *modelPart, next map[string]app) []string {
	removes := false
	for name := range p.published {
		_, stays := next[name]
		removes = removes || !stays
	}
	if removes && p.baseline == baselineRecord && m.addsUnknown(p) {
		return []string{"UnknownName"}
	}
	return nil
}

// addsUnknown reports whether the limit of a part has a name that the last published one lacks, and that is
// in no catalog now, and was neither a tier nor published then.
func (m *model) addsUnknown(p *modelPart) bool {
	var before modelSpec
	known := map[string]bool{}
	recorded := p.baseline == baselineRecord || p.newer
	if recorded {
		before, known = p.reviewed, keysOf(p.seen)
	}
	for _, a := range p.then {
		known[a.tier] = known[a.tier] || recorded
	}
	for name, a := range m.catalogs[p.catalog].apps {
		known[name], known[a.tier] = true, true
	}
	mentions := slices.Concat(p.spec.tiers, p.spec.names)
	return slices.ContainsFunc(mentions, func(name string) bool {
		return !known[name] && !slices.Contains(before.tiers, name) && !slices.Contains(before.names, name)
	})
}

// pruned returns the definitions that the Kustomization would delete without a comparison: it has applied
// objects that the selection never published.
func (p *modelPart) pruned(next map[string]app) (reasons []string) {
	if p.baseline == baselineRecord && (p.revisions[p.applied] || p.compared == p.applied && !p.withheld) {
		return nil
	}
	for name := range p.inventory {
		if _, stays := next[name]; !stays {
			reasons = append(reasons, "Removal "+name)
		}
	}
	return reasons
}

// lines returns the expected entry of status.held.approve; known is false if that is the checksum of the
// render, which the model cannot compute.
func (m *model) lines(p *modelPart) (line string, known bool) {
	digest := m.catalogs[p.catalog].digest
	if !m.byRevision(p, p.held) {
		return "", false
	}
	line = digest
	for n := 2; slices.Contains(p.used, line); n++ {
		line = digest + "#" + string(rune('0'+n))
	}
	return line, true
}

// wipe removes the status. The ExternalArtifact still names the content of the last publication.
func (m *model) wipe(p *modelPart) {
	p.used, p.revision, p.revisions, p.compared, p.newer, p.behind, p.leaving = nil, "", nil, "", false, false, nil
	p.offered, p.passed = nil, nil
	if p.baseline == baselineRecord {
		p.baseline = baselineContent
	}
	p.believe()
}

// takeBack takes what the deleted selection of the same name has published for that of a part, without a status. It
// replaces the empty state of the part: a controller that sees only the new selection takes back the ExternalArtifact, which
// one that sees the deletion has deleted.
func (m *model) takeBack(p *modelPart) {
	again := p.former.clone()
	again.spec, again.written, again.suspended, again.paused, again.doubt = p.spec, p.written, p.suspended, p.paused, p.doubt
	again.former = nil
	m.wipe(again)
	again.restarted = again.baseline != baselineRecord
	*p = *again
}

// restore puts an older status back. If the ExternalArtifact names its revision, it is believed. Otherwise the status is
// older than what is served: only the content of that is known, and only the checksum of a render approves.
func (m *model) restore(p, old *modelPart) {
	p.reviewed, p.seen, p.then, p.revision = old.reviewed.clone(), maps.Clone(old.seen), old.then, old.revision
	p.revisions, p.compared, p.leaving = maps.Clone(old.revisions), old.compared, maps.Clone(old.leaving)
	p.used, p.offered, p.passed = slices.Clone(old.used), slices.Clone(old.offered), slices.Clone(old.passed)
	p.standing = slices.Clone(old.standing)
	p.newer, p.behind = old.artifact() != p.artifact(), false
	p.withheld = old.withheld || (p.newer || p.vanished) && p.withheld // nothing is announced of a status that is older, or whose archive is lost
	if p.baseline = baselineRecord; p.newer {
		p.baseline = baselineContent
		m.tally["older than what is served"]++
	}
	if p.older = nil; p.newer {
		p.older = old.clone()
		p.older.older = nil
	}
	p.believe()
}

// believe forgets what was published last if nothing is left that tells of it, as after a conflict and the loss of the archives:
// then the status is all there is, and the inventories are compared ("a status that is older than what is served" in
// docs/design/safety.md). Without a status, the part was never published.
func (p *modelPart) believe() {
	switch {
	case !p.withheld || !p.vanished || p.baseline != baselineContent:
	case p.newer:
		p.baseline, p.newer = baselineRecord, false
		p.behind = !p.older.withheld && p.applied != "" && !p.revisions[p.applied]
		p.published, p.placed = maps.Clone(p.older.published), maps.Clone(p.older.placed)
	default:
		p.baseline, p.published, p.placed = baselineNone, nil, nil
	}
}

// restart drops the state of the controller that is not persistent, and the archives if these are lost:
// without a record, the served artifact of a part is unknown then.
func (m *model) restart(archivesLost bool) {
	for _, p := range m.parts {
		p.vanished = p.vanished || archivesLost && p.withheld
		p.believe()
		p.restarted, p.doubt = p.baseline != baselineRecord, false
		if archivesLost && p.baseline == baselineContent {
			p.baseline = baselineLost
		}
	}
}
