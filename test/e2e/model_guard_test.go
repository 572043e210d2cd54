// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Reasons that no line names.
const (
	empty = "EmptyResult"
	lost  = "BaselineLost"
)

// objections returns why the next applications of a part are held, sorted: the lines of what is lost and not named. All is lost
// that the last publication has and the next one lacks, whoever takes it away, and what is live and was never published.
// spec.exclude names an application that was published, and a line that counts names the rest.
// If the last publication is not known, the checksum of the render comes first. An empty first publication is an error.
func (m *model) objections(p *modelPart, next map[string]app) []string {
	if len(next) == 0 && !p.served() {
		return []string{empty}
	}
	p.see()
	if !m.knowsLast(p, next) && !slices.ContainsFunc(p.counting(), func(line string) bool { return m.renders[bodyOf(line)] == p.render(next) }) {
		return []string{lost}
	}
	left := slices.DeleteFunc(m.losses(p, next), func(loss string) bool {
		return slices.ContainsFunc(p.spec.excluded, func(name string) bool { return catalogName(p.catalog, name) == loss }) ||
			slices.ContainsFunc(p.counting(), func(line string) bool { return names(line, loss) })
	})
	return slices.Compact(slices.Sorted(slices.Values(left)))
}

// losses returns the lines of all that the next publication loses.
func (m *model) losses(p *modelPart, next map[string]app) []string {
	return slices.Concat(p.lost(next), m.takenFromLive(p, next), p.pruned(next))
}

// knowsLast reports whether the last publication is known, or is the next one again.
func (m *model) knowsLast(p *modelPart, next map[string]app) bool {
	return p.baseline != baselineLost || (p.newer || !p.withheld) && p.render(next) == p.artifact()
}

// see notes the lines of the spec. With a publication that the status does not know, all are used, once.
func (p *modelPart) see() {
	unknown := ""
	switch {
	case p.newer, p.baseline == baselineContent, p.baseline == baselineLost:
		unknown = fmt.Sprint(p.artifact(), " of ", p.publications)
	case p.behind, p.revision == "" && p.applied != "":
		unknown = "applied " + p.applied
	}
	p.lines = maps.Clone(p.lines)
	if p.lines == nil {
		p.lines = map[string]bool{}
	}
	for _, line := range p.spec.approved {
		p.lines[line] = p.lines[line] || unknown != "" && p.read != unknown
	}
	if unknown != "" {
		p.read = unknown
	}
}

// counting returns the lines of the spec that are not used.
func (p *modelPart) counting() []string {
	return slices.DeleteFunc(slices.Clone(p.spec.approved), func(line string) bool { return p.lines[line] })
}

// use notes the lines that name something that a publication loses.
func (m *model) use(p *modelPart, next map[string]app) {
	losses, known := m.losses(p, next), m.knowsLast(p, next)
	for _, line := range p.counting() {
		p.lines[line] = slices.ContainsFunc(losses, func(loss string) bool { return names(line, loss) }) ||
			!known && m.renders[bodyOf(line)] == p.render(next)
	}
	p.read = ""
	p.publications++
}

// numbered returns the line of a body that is a new one: one with the number above all that the status or the spec has.
func (p *modelPart) numbered(body string) string {
	highest := 0
	for _, line := range slices.Concat(slices.Collect(maps.Keys(p.lines)), p.spec.approved) {
		if is, number, _ := strings.Cut(line, "#"); is == body {
			n, _ := strconv.Atoi(number)
			highest = max(highest, n, 1)
		}
	}
	if highest == 0 {
		return body
	}
	return fmt.Sprintf("%s#%d", body, highest+1)
}

// bodyOf returns a line without its number, and names reports whether a line names a loss: it is the same, or stands for any
// version.
func bodyOf(line string) string {
	body, _, _ := strings.Cut(line, "#")
	return body
}

func names(line, loss string) bool {
	any, is := strings.CutSuffix(bodyOf(line), "*")
	return bodyOf(line) == loss || is && strings.HasPrefix(loss, any) && !strings.HasSuffix(loss, ":live")
}

// kindOf returns what kind of loss a line names.
func kindOf(line string) string {
	kind := "removal"
	if line == empty || line == lost {
		return line
	} else if strings.Contains(line, "/") {
		kind = "version"
	}
	_, live, _ := strings.Cut(line, ":")
	return strings.TrimSpace(kind + " " + live)
}

// lost returns the lines of what the published applications lose. Of a publication that is not known, that is nothing.
func (p *modelPart) lost(next map[string]app) (lines []string) {
	if p.baseline == baselineLost {
		return nil
	}
	for name, a := range p.published {
		now, stays := next[name]
		if !stays {
			lines = append(lines, catalogName(p.catalog, name))
		}
		for _, v := range a.versions {
			if stays && !slices.Contains(now.versions, v) {
				lines = append(lines, catalogName(p.catalog, name)+"/"+v)
			}
		}
	}
	return lines
}

// takenFromLive returns the losses of live definitions that the part has not published. Flux does not
// update those with a bypass.
func (m *model) takenFromLive(p *modelPart, next map[string]app) (lines []string) {
	for name, a := range next {
		l, lives := m.live[name]
		if _, known := p.published[name]; known && p.baseline != baselineLost || !lives || l.bypassed {
			continue
		}
		for _, v := range l.versions {
			if !slices.Contains(a.versions, v) {
				lines = append(lines, soakName+"-"+name+"/"+v+":live") // as it is called in the cluster
			}
		}
	}
	return lines
}

// addsUnknown reports whether the limit of a part has a name that is in no catalog, and that the last published one lacks, or has lacked
// when the spec was evaluated first.
func (m *model) addsUnknown(p *modelPart) bool {
	var before modelSpec
	if (p.baseline == baselineRecord || p.newer) && !p.doubt {
		before = p.reviewed
	}
	known := map[string]bool{}
	for name, a := range m.catalogs[p.catalog].apps {
		known[name], known[a.tier] = true, true
	}
	return slices.ContainsFunc(slices.Concat(p.spec.tiers, p.spec.names), func(name string) bool {
		return !known[name] && !slices.Contains(before.tiers, name) && !slices.Contains(before.names, name)
	})
}

// pruned returns the definitions that the Kustomization would delete without a comparison: it has applied
// objects that the selection never published.
func (p *modelPart) pruned(next map[string]app) (lines []string) {
	if p.baseline == baselineRecord && (p.revisions[p.applied] || p.compared == p.applied && !p.withheld) {
		return nil
	}
	for name := range p.inventory {
		_, stays := next[name]
		if _, published := p.published[name]; !stays && (!published || p.baseline == baselineLost) {
			lines = append(lines, catalogName(p.catalog, name)+":live")
		}
	}
	return lines
}

// wipe removes the status. The ExternalArtifact still names the content of the last publication.
func (m *model) wipe(p *modelPart) {
	p.lines, p.read, p.revision, p.revisions, p.compared, p.newer, p.behind = nil, "", "", nil, "", false, false
	p.older = nil
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
// older than what is served: only the content of that is known.
func (m *model) restore(p, old *modelPart) {
	p.reviewed, p.revision = old.reviewed.clone(), old.revision
	p.revisions, p.compared = maps.Clone(old.revisions), old.compared
	p.lines, p.read = maps.Clone(old.lines), old.read
	p.doubt = old.doubt && old.generation == p.generation
	// A revision that was published once more since is newer, also if it is that of the status: lines were used in between.
	p.newer, p.behind = old.artifact() != p.artifact() || p.updated.After(old.updated), false
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
		p.published = maps.Clone(p.older.published)
	default:
		p.baseline, p.published = baselineNone, nil
	}
}

// restart drops the state of the controller that is not persistent, and the archives if these are lost:
// without a record, the served artifact of a part is unknown then.
func (m *model) restart(archivesLost bool) {
	for _, p := range m.parts {
		p.vanished = p.vanished || archivesLost && p.withheld
		p.believe()
		p.restarted, p.waiting = p.baseline != baselineRecord, time.Time{}
		if archivesLost && p.baseline == baselineContent {
			p.baseline = baselineLost
		}
	}
}
