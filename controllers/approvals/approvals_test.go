// SPDX-License-Identifier: Apache-2.0

package approvals_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/approvals"
	"github.com/winnow-dev/winnow/render/approval"
)

// selection is a CatalogSelection with a clock.
type selection struct {
	v1alpha1.CatalogSelection
	now time.Time
}

// has sets the lines of the spec, which the controller sees.
func (s *selection) has(lines ...string) {
	s.Spec.Safeguards.Approve = lines
	s.Status.Approvals = approvals.See(&s.CatalogSelection, s.now)
}

// after lets time pass until the controller looks again.
func (s *selection) after(hours int) {
	s.now = s.now.Add(time.Duration(hours) * time.Hour)
	s.Status.Approvals = approvals.See(&s.CatalogSelection, s.now)
}

func (s *selection) use(lines ...string) {
	s.Status.Approvals = approvals.Use(s.Status.Approvals, approval.ParseAll(lines), s.now)
}

func (s *selection) useAll(revision string) {
	s.Status.Approvals = approvals.UseAll(s.Status.Approvals, s.Status.ApprovalsRead, revision, s.now)
	s.Status.ApprovalsRead = revision
}

func (s *selection) holds(named ...string) {
	s.Status.Held = &v1alpha1.HeldStatus{Named: named}
}

// counting lists the lines that count.
func (s *selection) counting() string {
	var lines []string
	for _, l := range approvals.Counting(&s.CatalogSelection, s.now) {
		lines = append(lines, l.String())
	}
	return strings.Join(lines, " ")
}

// remembered lists the lines in the status, with the hours from the first look to when they were seen, used, and left the spec.
func (s *selection) remembered(begin time.Time) string {
	var lines []string
	for _, a := range s.Status.Approvals {
		line := fmt.Sprintf("%s seen %v", a.Line, a.Seen.Sub(begin).Hours())
		if a.Used != nil {
			line += fmt.Sprintf(" used %v", a.Used.Sub(begin).Hours())
		}
		if a.Left != nil {
			line += fmt.Sprintf(" left %v", a.Left.Sub(begin).Hours())
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ")
}

const month = 30 * 24

func TestALineCountsOnceAndNotForEver(t *testing.T) {
	for _, test := range []struct {
		name                 string
		do                   func(*selection)
		counting, remembered string
	}{
		{"a new line counts", func(s *selection) { s.has("argocd") }, "argocd", "argocd seen 0"},
		{"until a day after it was seen", func(s *selection) { s.has("argocd"); s.after(23) }, "argocd", "argocd seen 0"},
		{"and no longer", func(s *selection) { s.has("argocd"); s.after(24) }, "", "argocd seen 0"},
		{"but for as long as it names a part of what is held", func(s *selection) {
			s.has("argocd", "nginx")
			s.holds("argocd")
			s.after(100)
		}, "argocd", "argocd seen 0, nginx seen 0"},
		{"a line that is used counts no more", func(s *selection) {
			s.has("argocd", "nginx")
			s.after(1)
			s.use("argocd")
		}, "nginx", "argocd seen 0 used 1, nginx seen 0"},
		{"nor if it names a part of what is held", func(s *selection) { s.has("argocd"); s.use("argocd"); s.holds("argocd") }, "", "argocd seen 0 used 0"},
		{"it is used when it was used first", func(s *selection) {
			s.has("argocd")
			s.use("argocd")
			s.after(1)
			s.use("argocd")
		}, "", "argocd seen 0 used 0"},
		{"the next number is another line", func(s *selection) {
			s.has("argocd")
			s.use("argocd")
			s.after(100)
			s.has("argocd", "argocd#2")
		}, "argocd#2", "argocd seen 0 used 0, argocd#2 seen 100"},
		{"a line that left the spec does not count", func(s *selection) { s.has("argocd"); s.has() }, "", "argocd seen 0 left 0"},
		{"nor is it a new one when it comes back", func(s *selection) {
			s.has("argocd", "nginx")
			s.use("nginx")
			s.after(23)
			s.has()
			s.after(1)
			s.has("argocd", "nginx")
		}, "", "argocd seen 0, nginx seen 0 used 0"},
		{"it is remembered for 30 days", func(s *selection) {
			s.has("argocd")
			s.use("argocd")
			s.has()
			s.after(month)
		}, "", "argocd seen 0 used 0 left 0"},
		{"and is a new one after these", func(s *selection) {
			s.has("argocd")
			s.use("argocd")
			s.has()
			s.after(month + 1)
			s.has("argocd")
		}, "argocd", "argocd seen 721"},
		{"a line in the spec is remembered for ever", func(s *selection) {
			s.has("argocd")
			s.use("argocd")
			s.after(3 * month)
		}, "", "argocd seen 0 used 0"},
		{"a malformed line does not count", func(s *selection) { s.has("argocd@1.0.0", "nginx") }, "nginx", "argocd@1.0.0 seen 0, nginx seen 0"},
		{"a publication that is not known uses all lines of the spec", func(s *selection) {
			s.has("argocd", "nginx")
			s.has("nginx", "falco")
			s.after(1)
			s.useAll("r1")
		}, "", "nginx seen 0 used 1, falco seen 0 used 1, argocd seen 0 left 0"},
		{"but no later one", func(s *selection) {
			s.has("argocd")
			s.useAll("r1")
			s.has("argocd", "argocd#2")
			s.useAll("r1")
		}, "argocd#2", "argocd seen 0 used 0, argocd#2 seen 0"},
		{"until there is another such publication", func(s *selection) {
			s.has("argocd")
			s.useAll("r1")
			s.has("argocd", "argocd#2")
			s.useAll("r2")
		}, "", "argocd seen 0 used 0, argocd#2 seen 0 used 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			begin := time.Unix(1_700_000_000, 0)
			s := &selection{now: begin}
			test.do(s)
			if got := s.counting(); got != test.counting {
				t.Errorf("%q count, want %q", got, test.counting)
			}
			if got := s.remembered(begin); got != test.remembered {
				t.Errorf("the status has %q, want %q", got, test.remembered)
			}
			for _, a := range s.Status.Approvals {
				if approvals.IsUsed(&s.CatalogSelection, a.Line) != (a.Used != nil) {
					t.Errorf("IsUsed(%s) is wrong", a.Line)
				}
			}
		})
	}
}

// The lines that left the spec are bounded: those that left last stay.
func TestTheMemoryOfLinesIsBounded(t *testing.T) {
	s := &selection{now: time.Unix(1_700_000_000, 0)}
	for i := range 3 {
		var lines []string
		for j := range 600 {
			lines = append(lines, fmt.Sprintf("argocd/%d.%d.0", i, j))
		}
		s.has(lines...)
		s.after(1)
	}
	s.has("nginx")
	var left []string
	for _, a := range s.Status.Approvals {
		if a.Left != nil {
			left = append(left, a.Line)
		}
	}
	if len(left) != 1000 || left[0] != "argocd/2.0.0" || left[999] != "argocd/1.399.0" {
		t.Errorf("%d lines are remembered, from %s to %s", len(left), left[0], left[len(left)-1])
	}
}

// A line that was known once does not count again: what names the same needs the next number.
func TestKnownHasTheLinesOfTheSpecAndOfTheStatus(t *testing.T) {
	s := &selection{now: time.Unix(1_700_000_000, 0)}
	s.has("argocd", "argocd#7")
	s.has("nginx")
	s.Spec.Safeguards.Approve = []string{"nginx", "falco#3"}
	var known []string
	for _, l := range approvals.Known(&s.CatalogSelection) {
		known = append(known, l.String())
	}
	if got := strings.Join(known, " "); got != "nginx falco#3 nginx argocd argocd#7" {
		t.Errorf("Known() = %s", got)
	}
}
