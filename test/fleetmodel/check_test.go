// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/render/diff"
)

// winnow runs a command of Winnow in this process.
func (m *model) winnow(args ...string) (code int, stdout string) {
	var out, notes bytes.Buffer
	code = root.Run(m.t.Context(), args, strings.NewReader(""), &out, &notes)
	m.said = notes.String()
	return code, out.String()
}

// verdict is what the check of a pull request says of a target, or what the model expects of it.
type verdict struct {
	effect string
	lost   []string
	// lines are those to add for what is held.
	lines []string
}

// Effects of a move.
const (
	unknown  = "unknown"
	held     = "held"
	approved = "approved"
	harmless = "harmless"
)

// check runs the check of a pull request, and reports whether it passes. The verdicts are those on stages.
func (m *model) check() (passes bool, verdicts map[string]verdict, err error) {
	code, out := m.winnow("diff", "--git", "HEAD~1..HEAD", "--plain-http", "--fail-on", "held,unknown", "-o", "json")
	m.count["checks of a commit"]++
	var report diff.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		return false, nil, fmt.Errorf("winnow diff exits with %d and prints %q, %q: %w", code, out, m.said, err)
	}
	verdicts = map[string]verdict{}
	for _, s := range report.Selections {
		if s.Promotion != nil {
			verdicts[s.Cluster] = verdictOf(s)
		}
	}
	m.shown = fmt.Sprintf("exit %d, unknown %q, %v", code, report.Unknown, verdicts)
	return code == 0, verdicts, nil
}

func verdictOf(s *diff.Selection) verdict {
	v := verdict{effect: harmless}
	switch {
	case len(s.Unknown) > 0:
		v.effect = unknown
	case s.Held != nil && s.Held.Approved:
		v.effect = approved
	case s.Held != nil:
		v.effect, v.lines = held, s.Held.Approve
	}
	for _, a := range s.Applications {
		if a.Change == diff.Removed {
			v.lost = append(v.lost, a.Name)
		}
		for _, version := range a.Versions {
			if version.Change == diff.Removed {
				v.lost = append(v.lost, a.Name+"/"+version.Version)
			}
		}
	}
	slices.Sort(v.lost)
	return v
}

// expect returns what the model knows of a move.
func (m *model) expect(before, after reference) verdict {
	for _, s := range []reference{before, after} {
		if _, rendered := m.contents[s.digest]; s.tag != "" || !rendered || !m.store.has(s.digest) {
			return verdict{effect: unknown}
		}
	}
	was, is := m.contents[before.digest], m.contents[after.digest]
	v := verdict{effect: harmless, lost: was.lost(is), lines: unnamed(was.losses(is), added(before, after))}
	switch {
	case len(v.lines) > 0:
		v.effect = held
	case len(v.lost) > 0:
		v.effect = approved
	}
	return v
}

// judge compares the verdicts of the check with what the model expects of each moved target, and of the whole: a commit passes
// unless something is held or unknown.
func (m *model) judge(before, after map[string]reference, passes bool, verdicts map[string]verdict) error {
	expected := true
	for _, target := range m.movedBetween(before, after) {
		want, got := m.expect(before[target], after[target]), verdicts[target]
		if got.effect != want.effect || want.effect != unknown && (!slices.Equal(got.lost, want.lost) || !slices.Equal(bodies(got.lines), want.lines)) {
			return fmt.Errorf("%w: the check says of %s %v, and the model %v: before %+v, after %+v", errVerdict, target, got, want, before[target], after[target])
		}
		expected = expected && (want.effect == approved || want.effect == harmless)
	}
	if expected && !passes && !m.doubtful(before, after) {
		return fmt.Errorf("%w: the check does not pass", errVerdict)
	}
	return nil
}

// doubtful reports whether the check may find something unknown besides the moves: the registry is down, which has the catalog,
// or a stage is resumed or begins to follow a tag, though some of its clusters have a digest.
func (m *model) doubtful(before, after map[string]reference) bool {
	return m.store.down || slices.ContainsFunc(m.targets, func(target string) bool {
		return before[target].suspended && !after[target].suspended || before[target].tagged != after[target].tagged
	})
}
