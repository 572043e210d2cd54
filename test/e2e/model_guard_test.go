//go:build e2e

package e2e

import (
	"slices"
	"strings"
)

// objections returns why the next applications of a part are held, sorted and each once:
//
//	nothing is selected            EmptyResult, which nothing releases
//	it is approved                 nothing
//	nobody knows what was served   BaselineLost
//	otherwise                      what the catalog takes away, what the Kustomization would delete that
//	                               applied something else, what live definitions would lose that enter
func (m *model) objections(p *modelPart, next map[string]app) []string {
	switch {
	case len(next) == 0:
		return []string{"EmptyResult"}
	case m.approved(p, next):
		return nil
	case p.baseline == baselineLost:
		return []string{"BaselineLost"}
	}
	reasons := slices.Concat(p.takenByCatalog(next), m.takenFromLive(p, next), p.pruned(next), m.unknownNames(p, next))
	slices.Sort(reasons)
	return slices.Compact(reasons)
}

// approved reports whether an entry that is not used up names the render, or else the revision of the
// catalog where that is another one than that of what is published, as far as that is known.
func (m *model) approved(p *modelPart, next map[string]app) bool {
	digest := m.catalogs[p.catalog].digest
	return slices.ContainsFunc(p.spec.approved, func(entry string) bool {
		sum, _, _ := strings.Cut(entry, "#")
		return !slices.Contains(p.used, entry) &&
			(m.renders[sum] == p.render(next) || sum == digest && p.revision != "" && p.revision != digest)
	})
}

// takenByCatalog returns what is lost of what is published, unless the new spec over the catalog of
// the last publication loses it too.
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

// takenFromLive returns what would be taken away from definitions that live without being published
// by the part. Flux does not touch those that are bypassed.
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

// unknownNames returns UnknownName where an edit takes away something published, and adds to the limit
// what is in no catalog now, and was neither a tier nor published then.
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

// addsUnknown reports whether the limit of a part names what it did not when it was published last, and
// what is in no catalog now, and was neither a tier nor published then.
func (m *model) addsUnknown(p *modelPart) bool {
	var before modelSpec
	known := map[string]bool{}
	if p.baseline == baselineRecord {
		before, known = p.reviewed, keysOf(p.seen)
	}
	for _, a := range p.then {
		known[a.tier] = known[a.tier] || p.baseline == baselineRecord
	}
	for name, a := range m.catalogs[p.catalog].apps {
		known[name], known[a.tier] = true, true
	}
	mentions := slices.Concat(p.spec.tiers, p.spec.names)
	return slices.ContainsFunc(mentions, func(name string) bool {
		return !known[name] && !slices.Contains(before.tiers, name) && !slices.Contains(before.names, name)
	})
}

// pruned returns what the Kustomization would delete although nobody has compared it: it has applied
// something that the selection never published.
func (p *modelPart) pruned(next map[string]app) (reasons []string) {
	if p.baseline == baselineRecord && (p.revisions[p.applied] || p.compared == p.applied) {
		return nil
	}
	for name := range p.inventory {
		if _, stays := next[name]; !stays {
			reasons = append(reasons, "Removal "+name)
		}
	}
	return reasons
}

// lines returns what status.held.approve has to say; known is false where only the checksum of the
// render releases it, which the model cannot compute.
func (m *model) lines(p *modelPart) (line string, known bool) {
	digest := m.catalogs[p.catalog].digest
	if p.revision == "" || p.revision == digest {
		return "", false
	}
	line = digest
	for n := 2; slices.Contains(p.used, line); n++ {
		line = digest + "#" + string(rune('0'+n))
	}
	return line, true
}

// wipe takes the status away: of the last publication, the ExternalArtifact still says what was in it.
func (m *model) wipe(p *modelPart) {
	p.used, p.revision, p.revisions, p.compared = nil, "", nil, ""
	if p.baseline == baselineRecord {
		p.baseline = baselineContent
	}
}

// restart has the controller forget what is not written down, and the archives as well if these are
// lost: who has no record does not know what is served then.
func (m *model) restart(archivesLost bool) {
	for _, p := range m.parts {
		p.restarted, p.doubt = p.baseline != baselineRecord, false
		if archivesLost && p.baseline == baselineContent {
			p.baseline = baselineLost
		}
	}
}
