// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/holds"
)

func TestCostOfTheStatus(t *testing.T) {
	long := strings.Repeat("-with-a-long-name", 6)
	for _, test := range []struct {
		name      string
		count     int
		word      func(i int) string
		truncated bool
	}{
		{"many versions", 3000, func(i int) string {
			return fmt.Sprintf("app%d:gold:%d.0.0%s", i, i, versions(i))
		}, true},
		{"short names", 5000, func(i int) string { return fmt.Sprintf("n%x", i) }, true},
		{"long names", 3000, func(i int) string { return fmt.Sprintf("a%d%s:gold", i, long) }, true},
		{"a usual catalog", 20, func(i int) string { return fmt.Sprintf("application-%d:gold:1.0.0,2.0.0,3.0.0", i) }, false},
		{"one more version than there is room for", 25, func(i int) string {
			return fmt.Sprintf("application-%d:gold:1.0.0,2.0.0%s", i, strings.Repeat(",3.0.0", max(0, i-23)))
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			var words strings.Builder
			for i := range test.count {
				words.WriteString(test.word(i) + " ")
			}
			e.source(applications(t, words.String()))
			e.selection("kkp")
			cs, _ := e.publish("kkp")
			size, err := json.Marshal(cs)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d of %d applications in %d bytes", len(cs.Status.Applications), test.count, len(size))
			if len(size) > 512<<10 {
				t.Errorf("the object has %d bytes", len(size))
			}
			if cs.Status.ApplicationsTruncated != test.truncated || (len(cs.Status.Applications) < test.count) != test.truncated {
				t.Errorf("truncated: %v, with %d applications", cs.Status.ApplicationsTruncated, len(cs.Status.Applications))
			}
			e.equal("selected", cs.Status.Summary.Selected, test.count)
		})
	}
}

func versions(seed int) string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, ",%d.%d.0", seed, i+2)
	}
	return b.String()
}

func TestTheHistoryIsBounded(t *testing.T) {
	e := newEnvironment(t)
	e.selection("kkp")
	for i := range meta.HistoryMaxSize + 2 {
		e.source(applications(t, fmt.Sprintf("argocd::%d.0.0", i)))
		e.publish("kkp")
	}
	e.equal("number of snapshots", len(e.get("kkp").Status.History), meta.HistoryMaxSize)
}

// kstatus evaluates the conditions by the rules of kstatus, like Flux and kubectl.
func kstatus(cs *v1alpha1.CatalogSelection) string {
	switch {
	case cs.Status.ObservedGeneration != cs.Generation:
		return "InProgress: the generation is not observed"
	case conditions.IsTrue(cs, meta.ReconcilingCondition) && conditions.IsTrue(cs, meta.StalledCondition):
		return "contradiction: Reconciling and Stalled"
	case conditions.IsTrue(cs, meta.ReconcilingCondition):
		return "InProgress"
	case conditions.IsTrue(cs, meta.StalledCondition):
		return "Failed"
	case conditions.IsTrue(cs, meta.ReadyCondition):
		return "Current"
	}
	return "InProgress: not Ready"
}

func TestOutcomesAreUnderstoodByKstatus(t *testing.T) {
	lastGood := v1alpha1.CatalogSelectionStatus{Artifact: &meta.Artifact{Revision: "r"}, Summary: &v1alpha1.Summary{}}
	reasons := map[string]string{
		v1alpha1.SourceNotReadyReason:     "InProgress",
		v1alpha1.FetchFailedReason:        "InProgress",
		v1alpha1.StorageFailedReason:      "InProgress",
		v1alpha1.QuotaExceededReason:      "InProgress",
		v1alpha1.AccessDeniedReason:       "Failed",
		v1alpha1.VerificationFailedReason: "Failed",
		v1alpha1.InvalidArchiveReason:     "Failed",
		v1alpha1.InvalidCatalogReason:     "Failed",
		v1alpha1.InvalidSpecReason:        "Failed",
		v1alpha1.NameConflictReason:       "Failed",
		v1alpha1.ConflictReason:           "Failed",
		v1alpha1.EmptyResultReason:        "Failed",
	}
	failing := func(reason string) error {
		if reason == v1alpha1.EmptyResultReason {
			return holds.New(reason, "", nil)
		}
		return failure.Because(reason, errDead)
	}
	// From every outcome to every other: nothing of the former may be left.
	for before := range reasons {
		for after, want := range reasons {
			cs := &v1alpha1.CatalogSelection{}
			cs.Generation = 3
			for _, reason := range []string{before, after} {
				decide(failing(reason), cs, cs.Status.Artifact != nil).report(cs)
			}
			if got := kstatus(cs); got != want || conditions.IsTrue(cs, meta.ReadyCondition) {
				t.Errorf("%s after %s is %s, want %s: %v", after, before, got, want, conditionsOf(cs))
			}
			cs.Status.Artifact, cs.Status.Summary = lastGood.Artifact, lastGood.Summary
			for _, err := range []error{failing(v1alpha1.EmptyResultReason), nil} {
				decide(err, cs, cs.Status.Artifact != nil).report(cs)
				if got := kstatus(cs); got != "Current" || conditions.IsTrue(cs, v1alpha1.HeldCondition) != (err != nil) {
					t.Errorf("%v after %s is %s: %v", err, after, got, conditionsOf(cs))
				}
			}
		}
	}
}

func TestDurationsAreWhole(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	cs, _ := e.publish("kkp")
	if d := cs.Status.History.Latest().LastReconciledDuration.Duration; d != d.Round(time.Millisecond) {
		t.Errorf("duration is %v", d)
	}
}
