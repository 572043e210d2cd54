// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// propose makes a pull request of one commit and merges it if its check passes. edit edits the working directory, or makes
// the commit itself; it reports false where there is nothing to propose.
func (m *model) propose(title string, edit func() bool) (string, error) {
	base := m.head()
	if !edit() {
		m.drop(base)
		return title + ": nothing", nil
	}
	if m.head() == base {
		if m.git("status", "--porcelain") == "" {
			return title + ": no change", nil
		}
		m.commit(title)
	}
	m.count["pull requests"]++
	did, err := m.review(base)
	return title + ": " + did, err
}

// review checks the commit, approves or closes what is held, and merges what passes.
func (m *model) review(base string) (string, error) {
	m.store.down = m.chance(3)
	defer func() { m.store.down = false }()
	given := map[string]bool{}
	for range 2 {
		after := m.sources()
		passes, verdicts, err := m.check()
		if err != nil {
			return "checked", err
		}
		if err := m.judge(m.main, after, passes, verdicts); err != nil {
			return "checked", err
		}
		if passes {
			return m.decide(base, after, given)
		}
		effects := m.countVerdicts(after)
		if len(given) > 0 {
			if effects[unknown] == 0 {
				return "approved", fmt.Errorf("%w: the check does not pass although all is approved", errVerdict)
			}
			break
		}
		if effects[held] == 0 || effects[unknown] > 0 || !m.chance(50) {
			break
		}
		if m.chance(20) {
			m.approveWrongly(after)
			continue
		}
		given = m.approve(after, verdicts)
	}
	m.count["pull requests that are not merged: held or unknown"]++
	if m.chance(10) {
		m.keep()
	}
	m.drop(base)
	return "closed", nil
}

// countVerdicts counts what the model expects of the moves.
func (m *model) countVerdicts(after map[string]reference) map[string]int {
	effects := map[string]int{}
	for _, target := range m.movedBetween(m.main, after) {
		effects[m.expect(m.main[target], after[target]).effect]++
	}
	for effect, n := range effects {
		m.count["moves that are "+effect] += n
	}
	return effects
}

// approve lets a reviewer add the lines that name what is held, by the command line or by hand. It returns the targets.
func (m *model) approve(after map[string]reference, verdicts map[string]verdict) map[string]bool {
	if code, _ := m.winnow("approve", "--git", "HEAD~1..HEAD", "--write", "--plain-http"); code != 0 {
		m.count["approvals that the command line leaves to hands"]++
		m.drop("HEAD")
		m.approveByHand(after, verdicts)
	}
	given := map[string]bool{}
	for target, v := range verdicts {
		if v.effect == held {
			given[target] = true
			m.count["approvals by reviewers"]++
		}
	}
	m.git("commit", "-q", "-a", "--amend", "--no-edit")
	return given
}

// approveByHand adds the lines to the files with the digests.
func (m *model) approveByHand(after map[string]reference, verdicts map[string]verdict) {
	for _, target := range m.targets {
		file := stageFile(target)
		if strings.HasPrefix(target, "pinned/") {
			if file = pinFile(target); m.read(file) == "" {
				file = stageFile(production)
			}
		}
		if v := verdicts[target]; v.effect == held {
			text := m.read(file)
			lines := m.linesOf(text)
			if len(lines) == 0 {
				lines = after[target].lines
			}
			m.write(file, annotate(text, with(lines, v.lines...)))
		}
	}
}

// approveWrongly adds lines that name something else.
func (m *model) approveWrongly(after map[string]reference) {
	m.count["wrong approvals"]++
	for _, target := range m.movedBetween(m.main, after) {
		file := stageFile(target)
		if text := m.read(file); text != "" {
			m.write(file, annotate(text, []string{m.drawLine(), m.drawLine()}))
		}
	}
	if m.git("status", "--porcelain") != "" {
		m.git("commit", "-q", "-a", "--amend", "--no-edit")
	}
}

// decide merges a commit whose check passes, unless a reviewer refuses an approval that its author has written. What is lost
// then has been approved, or the model fails.
func (m *model) decide(base string, after map[string]reference, given map[string]bool) (string, error) {
	m.countVerdicts(after)
	granted := map[string]map[string]bool{}
	for _, target := range m.movedBetween(m.main, after) {
		now := m.contents[after[target].digest]
		lost := m.contents[m.main[target].digest].lost(now)
		if len(lost) > 0 && !given[target] {
			if m.expect(m.main[target], after[target]).effect != approved {
				return "merged", fmt.Errorf("%w: %s may lose %v", errViolation, target, lost)
			}
			if m.chance(30) {
				m.count["approvals of authors that reviewers refuse"]++
				m.drop(base)
				return "refused", nil
			}
			m.count["approvals of authors that reviewers accept"]++
		}
		granted[target] = grant(m.granted[target], lost, now)
	}
	m.countMerged(after)
	for target, g := range granted {
		m.granted[target] = g
	}
	m.main = after
	m.merges = last(append(m.merges, m.head()), 12)
	m.count["pull requests that are merged"]++
	return "merged", nil
}

// countMerged counts the moves of a merge.
func (m *model) countMerged(after map[string]reference) {
	moved := m.movedBetween(m.main, after)
	if len(moved) > 1 {
		m.count["merges that move several stages"]++
	}
	for _, target := range moved {
		m.moves[target]++
		m.count["moves of stages that are merged"]++
		from, to := slices.Index(m.digests, m.main[target].digest), slices.Index(m.digests, after[target].digest)
		if to > from+1 && from >= 0 {
			m.count["moves of stages that are merged, with skipped revisions"]++
		}
		if m.expect(m.main[target], after[target]).effect == approved && strings.Contains(strings.Join(after[target].lines, ""), "#") {
			m.count["moves of stages that are merged, by a line with a number"]++
		}
	}
}

func (m *model) specOf(file string) v1alpha1.CatalogSelectionSpec {
	var cs v1alpha1.CatalogSelection
	m.must(yaml.UnmarshalStrict([]byte(file), &cs))
	return cs.Spec
}

// keep keeps a pull request for later.
func (m *model) keep() {
	name := fmt.Sprintf("pr-%d", m.count["pull requests"])
	m.git("branch", name)
	m.kept = append(m.kept, name)
	if len(m.kept) > 5 {
		m.git("branch", "-q", "-D", m.kept[0])
		m.kept = m.kept[1:]
	}
}

// tidy packs the repository, and drops what no branch has.
func (m *model) tidy() { m.git("gc", "-q", "--prune=now") }
