// SPDX-License-Identifier: Apache-2.0

package get

import (
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

func TestGetCountsInstancesWhereThereAreSome(t *testing.T) {
	selection := func(wanted, installed int) *live.Selection {
		cs := &v1alpha1.CatalogSelection{}
		cs.Name = "apps"
		for i := range wanted {
			if cs.Spec.Instances == nil {
				cs.Spec.Instances = map[string]v1alpha1.Instance{}
			}
			cs.Spec.Instances[string(rune('a'+i))] = v1alpha1.Instance{}
		}
		if installed >= 0 {
			cs.Status.Summary = &v1alpha1.Summary{Instances: int32(installed)}
		}
		return &live.Selection{CatalogSelection: cs}
	}
	for _, test := range []struct {
		name  string
		found []*live.Selection
		wide  bool
		want  []string // cells of the column; nil for no column
	}{
		{"no instance", []*live.Selection{selection(0, 0), selection(0, -1)}, true, nil},
		{"some, and one that is not installed", []*live.Selection{selection(2, 2), selection(3, 2), selection(0, 0), selection(1, -1), selection(0, 1)}, true,
			[]string{"2", "2 of 3", "0", "-", "1 of 0"}},
		{"not in the table that fits a terminal", []*live.Selection{selection(2, 2)}, false, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, c := range newSelectionTable(test.found, layout{wide: test.wide}).columns {
				if c.header != "INSTANCES" {
					continue
				}
				for _, s := range test.found {
					got = append(got, c.cell(s))
				}
			}
			if strings.Join(got, ",") != strings.Join(test.want, ",") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestGetCountsWhatIsLeftBehindWhereThereIsSome(t *testing.T) {
	selection := func(bypassed, orphaned int32) *live.Selection {
		cs := &v1alpha1.CatalogSelection{}
		cs.Name, cs.Status.Summary = "apps", &v1alpha1.Summary{Selected: 7, Bypassed: bypassed, Orphaned: orphaned}
		return &live.Selection{CatalogSelection: cs}
	}
	for _, test := range []struct {
		name  string
		found []*live.Selection
		wide  bool
		want  string
	}{
		{"none", []*live.Selection{selection(0, 0), {CatalogSelection: &v1alpha1.CatalogSelection{}}}, true, ""},
		{"a bypass", []*live.Selection{selection(2, 0), {CatalogSelection: &v1alpha1.CatalogSelection{}}}, true, "BYPASSED=2,-"},
		{"both", []*live.Selection{selection(2, 0), selection(0, 3)}, true, "BYPASSED=2,0 ORPHANED=0,3"},
		{"not in the table that fits a terminal", []*live.Selection{selection(2, 3)}, false, ""},
	} {
		var got []string
		for _, c := range newSelectionTable(test.found, layout{wide: test.wide}).columns {
			if c.header != "BYPASSED" && c.header != "ORPHANED" {
				continue
			}
			var cells []string
			for _, s := range test.found {
				cells = append(cells, c.cell(s))
			}
			got = append(got, c.header+"="+strings.Join(cells, ","))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// described returns a selection with conditions, each TYPE STATUS REASON MESSAGE.
func described(name string, conditions ...string) *live.Selection {
	cs := &v1alpha1.CatalogSelection{}
	cs.Namespace, cs.Name = "flux-system", name
	cs.Status.SourceRevision = "v1.0.0"
	for _, text := range conditions {
		part := strings.SplitN(text, " ", 4)
		cs.Status.Conditions = append(cs.Status.Conditions, metav1.Condition{Type: part[0], Status: metav1.ConditionStatus(part[1]), Reason: part[2], Message: part[3]})
	}
	return &live.Selection{CatalogSelection: cs}
}

func TestAKustomizationThatIsNotThereYetIsNoFailure(t *testing.T) {
	waits := described("waits", "Ready True Succeeded published", "Applied False Progressing Kustomization a/b: has not applied the revision yet").CatalogSelection
	if got := conditionCell(waits, v1alpha1.AppliedCondition); got != "WAIT" {
		t.Errorf("APPLIED is %q", got)
	}
	if got := problemsOf(waits); len(got) != 1 || got[0].severity != waiting {
		t.Errorf("the problems are %v", got)
	}
}

func TestProblemsAreSeenInEveryWidth(t *testing.T) {
	healthy := described("a-healthy", "Ready True Succeeded published 6 of 10 applications", "SourceReady True Succeeded x", "Held False NothingHeld x", "Applied True Succeeded x")
	outage := described("outage", "Ready True Succeeded published 6 of 10 applications; a source fails, see SourceReady",
		"SourceReady False FetchFailed OCIRepository flux-system/catalog: no such host", "Held True Removal loki: would be removed", "Applied False ApplyFailed dry-run failed")
	pending := described("b-pending", "Ready Unknown SourcesUnsettled waits", "Held False NothingHeld x")
	asleep := described("c-asleep", "Ready True Succeeded published", "Held False NothingHeld x")
	asleep.Spec.Suspend = true
	all := []*live.Selection{healthy, pending, outage}
	for _, test := range []struct {
		name  string
		found []*live.Selection
		l     layout
		want  string
	}{
		{"a pipe", all, layout{headers: true}, `NAME       READY    SOURCES  HELD   APPLIED  CATALOG  MESSAGE
outage     True     FAIL     HELD   FAIL     v1.0.0   FetchFailed: OCIRepository flux-system/catalog: no such host; ApplyFailed: dry-run failed; Removal: loki: would be removed
b-pending  Unknown  -        False  -        v1.0.0   SourcesUnsettled: waits
a-healthy  True     True     False  True     v1.0.0   published 6 of 10 applications
`},
		{"80 columns", all, layout{headers: true, width: 80}, `NAME       READY    SOURCES  HELD   APPLIED  CATALOG  MESSAGE
outage     True     FAIL     HELD   FAIL     v1.0.0   FetchFailed: OCIReposit...
b-pending  Unknown  -        False  -        v1.0.0   SourcesUnsettled: waits
a-healthy  True     True     False  True     v1.0.0   published 6 of 10 appli...
`},
		{"70 columns", all, layout{width: 70}, `outage     True     FAIL     HELD   FAIL     FetchFailed: OCIReposi...
b-pending  Unknown  -        False  -        SourcesUnsettled: waits
a-healthy  True     True     False  True     published 6 of 10 appl...
`},
		{"50 columns", all[2:], layout{headers: true, width: 50}, `NAME    READY  SOURCES  HELD  APPLIED
outage  True   FAIL     HELD  FAIL
  FetchFailed: OCIRepository flux-system/catalog:
  no such host; ApplyFailed: dry-run failed;
  Removal: loki: would be removed
`},
		{"40 columns", all[2:], layout{headers: true, width: 40}, `NAME    READY  SOURCES  HELD  APPLIED
outage  True   FAIL     HELD  FAIL
  FetchFailed: OCIRepository
  flux-system/catalog: no such host;
  ApplyFailed: dry-run failed; Removal:
  loki: would be removed
`},
		{"30 columns", []*live.Selection{asleep}, layout{width: 30}, `c-asleep  True   -        False  -        True
  suspended
`},
		{"colour", all[2:], layout{width: 70, colour: true}, "outage  True   \x1b[31mFAIL\x1b[0m     \x1b[33mHELD\x1b[0m  \x1b[31mFAIL\x1b[0m     v1.0.0   FetchFailed: OCIRep...\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			newSelectionTable(worstFirst(test.found), test.l).print(&out)
			if out.String() != test.want {
				t.Errorf("got\n%s\nwant\n%s", out.String(), test.want)
			}
			for line := range strings.Lines(out.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); test.l.width > 30 && !test.l.colour && n > test.l.width {
					t.Errorf("%d characters: %s", n, line)
				}
			}
		})
	}
}

func TestAStatusOfAnOlderSpecIsNoSuccess(t *testing.T) {
	s := described("apps", "Ready True Succeeded published")
	s.Generation, s.Status.Conditions[0].ObservedGeneration = 3, 2
	if got, message := conditionCell(s.CatalogSelection, "Ready"), messageOf(s.CatalogSelection); got != "Unknown" || !strings.Contains(message, "its last edit is not reconciled yet") {
		t.Errorf("READY is %s: %s", got, message)
	}
	s.Spec.Suspend = true
	if got := conditionCell(s.CatalogSelection, "Ready"); got != "True" {
		t.Errorf("READY of a suspended selection is %s", got)
	}
}

func TestTheWidthOfAnOutput(t *testing.T) {
	for columns, want := range map[string]int{"": 0, "120": 120, "0": 0, "-5": 0, "wide": 0} {
		t.Setenv("COLUMNS", columns)
		if got := output.WidthOf(&strings.Builder{}); got != want {
			t.Errorf("COLUMNS=%s: %d, want %d", columns, got, want)
		}
	}
}

// The hub of a fleet has no consumer: that is no problem.
func TestGetShowsAHubAsHealthy(t *testing.T) {
	hub := &v1alpha1.CatalogSelection{Spec: v1alpha1.CatalogSelectionSpec{Push: &v1alpha1.Push{URL: "oci://registry.example.com/rendered"}}}
	for kind, c := range map[string]metav1.Condition{
		"Ready":   {Status: metav1.ConditionTrue, Reason: "Succeeded", Message: "rendered for spec.push"},
		"Applied": {Status: metav1.ConditionUnknown, Reason: v1alpha1.NoConsumerReason, Message: "no Kustomization uses it"},
		"Pushed":  {Status: metav1.ConditionTrue, Reason: "Succeeded"},
	} {
		c.Type = kind
		hub.Status.Conditions = append(hub.Status.Conditions, c)
	}
	if got := conditionCell(hub, v1alpha1.AppliedCondition) + " " + messageOf(hub); got != "- rendered for spec.push" {
		t.Errorf("the hub is shown as %q", got)
	}
	hub.Spec.Push = nil
	if got := conditionCell(hub, v1alpha1.AppliedCondition) + " " + messageOf(hub); got != "Unknown NoConsumer: no Kustomization uses it" {
		t.Errorf("a selection that nothing uses is shown as %q", got)
	}
}
