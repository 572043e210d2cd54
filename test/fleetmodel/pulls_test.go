// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// flags of winnow promote.
func (m *model) promoteFlags() []string {
	flags := []string{"--plain-http", "--fail-on", "held,unknown", "-o", "json"}
	if m.chance(15) {
		flags = append(flags, "--approve")
	}
	return flags
}

// promote promotes a stage to the next one, or something else from the registry to any of them: revisions are skipped.
func (m *model) promote() (string, error) {
	latest := fmt.Sprintf("oci://%s/rendered/datacenter", m.store.host)
	from, to := latest+":latest", []string{staging}
	switch draw := m.rand.IntN(10); {
	case draw < 3:
	case draw < 5:
		from, to = staging, []string{canary}
	case draw < 7:
		from, to = canary, []string{production}
	case draw < 8:
		from, to = staging, []string{canary, production}
	default:
		from, to = latest+"@"+pick(m, m.digests), []string{pick(m, []string{staging, canary, production})}
	}
	return m.propose(fmt.Sprintf("promote %s to %v", from, to), func() bool {
		code, _ := m.winnow(slices.Concat([]string{"promote", "--git", from}, to, m.promoteFlags())...)
		m.count["promotions by the command line"]++
		return code < 2
	})
}

// drawDigest draws what somebody may write into ref.digest.
func (m *model) drawDigest() string {
	switch m.rand.IntN(12) {
	case 0:
		return fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Append(nil, m.rand.Int())))
	case 1:
		return m.catalog.digest // an artifact of another repository
	}
	return pick(m, m.digests)
}

// drawLine draws a line.
func (m *model) drawLine() string {
	return pick(m, names) + pick(m, []string{"", "/*", "/" + pick(m, versions)}) + pick(m, []string{"", "", "#2"})
}

// drawLines draws what somebody may write beside a digest, often nothing.
func (m *model) drawLines(target, digest string) []string {
	lines := m.contents[m.main[target].digest].losses(m.contents[digest])
	switch m.rand.IntN(8) {
	case 0:
		return lines
	case 1:
		for i := range lines {
			lines[i] += "#2"
		}
		return lines
	case 2:
		return []string{m.drawLine(), m.drawLine()}
	}
	return nil
}

// rewrite edits a stage by hand.
func (m *model) rewrite(target, digest string, lines []string) {
	text := repoint(m.read(stageFile(target)), digest)
	if len(lines) > 0 {
		text = annotate(text, lines)
	}
	m.write(stageFile(target), text)
}

// editByHand writes another digest, or a tag, into a stage.
func (m *model) editByHand() (string, error) {
	target, digest := pick(m, []string{staging, canary, production}), m.drawDigest()
	m.count["hand edits of digests"]++
	return m.propose("edit "+target+" by hand", func() bool {
		if m.chance(10) {
			m.write(stageFile(target), digestLine.ReplaceAllString(m.read(stageFile(target)), "    tag: latest"))
			return true
		}
		m.rewrite(target, digest, m.drawLines(target, digest))
		return true
	})
}

// moveSeveral moves several stages by one commit.
func (m *model) moveSeveral() (string, error) {
	m.count["commits that move several stages"]++
	return m.propose("move several stages", func() bool {
		digest := pick(m, m.digests)
		for _, target := range []string{staging, canary, production} {
			if m.chance(40) {
				digest = pick(m, m.digests)
			}
			if m.chance(75) {
				m.rewrite(target, digest, m.drawLines(target, digest))
			}
		}
		return true
	})
}

// pinCluster pins a cluster of production to a digest of its own, moves that, or ends it.
func (m *model) pinCluster() (string, error) {
	target := pick(m, m.targets[3:])
	m.count["clusters that are pinned or unpinned"]++
	return m.propose("pin "+target, func() bool {
		if m.read(pinFile(target)) != "" && m.chance(50) {
			m.remove(pinFile(target))
			m.write(target+"/kustomization.yaml", unpinned)
			return true
		}
		digest := pick(m, m.digests)
		if m.chance(40) {
			digest = m.main[target].digest
		}
		m.write(pinFile(target), pin(digest, m.drawLines(target, digest)))
		m.write(target+"/kustomization.yaml", pinned)
		return true
	})
}

// rollBack reverts one of the last merges, which may be a rollback itself.
func (m *model) rollBack() (string, error) {
	if len(m.merges) == 0 {
		return "nothing to revert", nil
	}
	commit := pick(m, last(m.merges, 4))
	m.count["rollbacks"]++
	return m.propose("revert "+commit, func() bool {
		if _, err := m.try("revert", "--no-edit", commit); err != nil {
			_, _ = m.try("revert", "--abort")
			return false
		}
		return true
	})
}

// copyStage copies the file of a stage onto another one, with its annotation.
func (m *model) copyStage() (string, error) {
	from, to := pick(m, []string{staging, canary}), pick(m, []string{canary, production})
	return m.propose("copy "+from+" to "+to, func() bool {
		m.write(stageFile(to), m.read(stageFile(from)))
		return true
	})
}

// approveBefore writes lines without a move, for what may be lost later, or removes them.
func (m *model) approveBefore() (string, error) {
	target := pick(m, []string{staging, canary, production})
	m.count["approvals before the move"]++
	return m.propose("approve "+target+" before", func() bool {
		lines := []string{m.drawLine(), m.drawLine()}
		if m.chance(30) {
			lines = nil
		}
		m.write(stageFile(target), annotate(m.read(stageFile(target)), lines))
		return true
	})
}

// suspend suspends or resumes the source of a stage.
func (m *model) suspend() (string, error) {
	target := pick(m, []string{staging, canary, production})
	return m.propose("suspend or resume "+target, func() bool {
		text := m.read(stageFile(target))
		if suspendLine.MatchString(text) {
			text = suspendLine.ReplaceAllString(text, "")
		} else {
			text = strings.Replace(text, "  interval: 5m\n", "  suspend: true\n  interval: 5m\n", 1)
		}
		m.write(stageFile(target), text)
		return true
	})
}

// editSelection excludes applications, keeps or deletes what leaves, or approves what the hub holds.
func (m *model) editSelection() (string, error) {
	h := pick(m, m.hubs)
	for _, other := range m.hubs {
		if len(other.held) > 0 && m.chance(50) {
			h = other
		}
	}
	file := "hub/" + h.fleet + ".yaml"
	spec := m.specOf(m.read(file))
	exclude, approve, policy := spec.Exclude, spec.Safeguards.Approve, string(spec.DeletionPolicy)
	what := "edit the selection"
	switch {
	case len(h.held) > 0 && m.chance(75):
		approve, what = with(approve, h.held...), "approve on the hub"
		m.count["approvals on the hub"]++
	case m.chance(20):
		policy = map[string]string{"Delete": "Orphan", "Orphan": "Delete"}[policy]
	case m.chance(15):
		approve = with(approve, m.drawLine())
	default:
		name := pick(m, names)
		if i := slices.Index(exclude, name); i >= 0 {
			exclude = slices.Delete(slices.Clone(exclude), i, i+1)
		} else if len(exclude) < 2 {
			exclude = append(exclude, name)
		}
	}
	m.count["edits of selections"]++
	return m.propose(what, func() bool {
		m.write(file, selectionFile(m.store.host, h.fleet, exclude, approve, policy))
		if m.chance(10) {
			m.rewrite(staging, pick(m, m.digests), nil)
		}
		return true
	})
}

// with returns the last lines of a list with others.
func with(lines []string, others ...string) []string {
	kept := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
	return last(append(kept, others...), 20)
}

// mergeKept updates a pull request that was kept, and merges it if it can be.
func (m *model) mergeKept() (string, error) {
	if len(m.kept) == 0 {
		return "no pull request waits", nil
	}
	name := m.kept[0]
	m.kept = m.kept[1:]
	m.count["pull requests that are updated later"]++
	did, err := m.propose("update "+name, func() bool {
		if _, err := m.try("cherry-pick", name); err != nil {
			_, _ = m.try("cherry-pick", "--abort")
			return false
		}
		return true
	})
	m.git("branch", "-q", "-D", name)
	return did, err
}
