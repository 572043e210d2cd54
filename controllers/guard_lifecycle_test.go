// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

func TestAnApprovalReleasesOneRevision(t *testing.T) {
	e, good := publishGuarded(t, "argocd nginx falco")
	second := e.source(applications(t, "argocd nginx"))
	e.hold(good, "Removal")
	third := e.source(applications(t, "argocd"))
	e.events.take()
	e.approve(second.Digest)
	cs := e.hold(good, "Removal")
	e.equal("lost", lost(cs), []string{"Removal falco 1.0.0", "Removal nginx 1.0.0"})
	e.equal("approve", cs.Status.Held.Approve, []string{third.Digest})
	e.equal("events of the third revision", e.events.take(), warned("Removal"))

	e.source(applications(t, "argocd nginx"))
	good = e.good()
	e.source(applications(t, "argocd"))
	e.equal("lost after the second", lost(e.hold(good, "Removal")), []string{"Removal nginx 1.0.0"})
	e.equal("events", e.events.take(), warned("Removal"))
	e.approve(third.Digest)
	e.good()
}

func TestAnApprovalMayComeFirst(t *testing.T) {
	e, _ := publishGuarded(t, "argocd nginx")
	next := applications(t, "argocd")
	e.approve(digestOf(next))
	e.good()
	e.source(next)
	e.good()
}

func TestACatalogThatGoesBackReleasesItself(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %v", restart), func(t *testing.T) {
			e, good := publishGuarded(t, "argocd nginx")
			e.source(applications(t, "argocd"))
			e.hold(good, "Removal")
			e.events.take()
			e.source(applications(t, "argocd nginx"))
			if restart {
				e.restart()
			}
			cs, _ := e.publish("kkp")
			if cs.Status.Held != nil || !conditions.IsFalse(cs, v1alpha1.HeldCondition) {
				t.Errorf("held is %v", cs.Status.Held)
			}
			e.untouched(good)
			e.equal("events", e.events.take(), []string(nil))
		})
	}
}

// interruptions delay the publication of a selection.
func interruptions() []trouble {
	return []trouble{
		{name: "the source has no artifact", want: retried("SourceNotReady"), cause: func(e *environment) {
			e.setArtifact("OCIRepository", e.key("catalog"), nil)
		}},
		{name: "the download fails", want: retried("FetchFailed"), cause: func(e *environment) {
			serve(http.NotFound)(e)
		}},
	}
}

func TestAHoldLastsWhileASourceIsUnavailable(t *testing.T) {
	for _, trouble := range interruptions() {
		t.Run(trouble.name, func(t *testing.T) {
			e, good := publishGuarded(t, "argocd nginx")
			source := e.source(applications(t, "argocd"))
			first := e.hold(good, "Removal")
			trouble.cause(e)
			_, _ = e.tryReconcile("kkp")
			cs := e.get("kkp")
			e.equal("conditions", conditionsOf(cs), append([]string{"Held=True Removal"}, trouble.want...))
			e.equal("held", cs.Status.Held, first.Status.Held)
			e.untouched(good)
			e.setArtifact("OCIRepository", e.key("catalog"), source)
			e.events.take()
			again := e.hold(good, "Removal")
			e.equal("held again", again.Status.Held, first.Status.Held)
			e.equal("events", e.events.take(), []string(nil))
			e.setArtifact("OCIRepository", e.key("catalog"), source)
			e.approve(source.Digest)
			e.good()
		})
	}
}

// A first publication that is held leaves no artifact to be Ready with.
func TestAHeldFirstPublicationIsReportedOnce(t *testing.T) {
	for _, trouble := range interruptions() {
		t.Run(trouble.name, func(t *testing.T) {
			e := newEnvironment(t)
			source := e.source(applications(t, "argocd"))
			e.selection("kkp", guarded, exclude("argocd"))
			stalled := []string{"Held=True EmptyResult", "Ready=False EmptyResult", "Stalled=True EmptyResult"}
			first := e.reconcile("kkp")
			e.equal("conditions", conditionsOf(first), stalled)
			e.equal("events", e.events.take(), []string{"Warning EmptyResult CatalogSelection"})
			trouble.cause(e)
			_, _ = e.tryReconcile("kkp")
			e.events.take()
			e.setArtifact("OCIRepository", e.key("catalog"), source)
			e.equal("conditions again", conditionsOf(e.reconcile("kkp")), stalled)
			e.equal("events again", e.events.take(), []string(nil))
		})
	}
}

func TestAnEmptyResult(t *testing.T) {
	onEmpty := func(value string) specEdit {
		return func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.OnEmpty = value }
	}
	const before = "argocd:gold nginx:gold"
	for _, test := range []struct {
		name        string
		onEmpty     string
		edit        specEdit
		after       string
		want        []string
		approvable  bool
		wantMessage string
	}{
		{"by the spec", "Hold", exclude("argocd", "nginx"), before, []string{"EmptyResult "}, false, "2 by exclude"},
		{"by the catalog", "Hold", func(*v1alpha1.CatalogSelection) {}, "argocd:silver", []string{"EmptyResult "}, false, "1 by limit.metadataSelector.tierRefs"},
		{"by the spec, which allows it", "Publish", exclude("argocd", "nginx"), before, nil, false, ""},
		{"by the catalog, and the spec allows it", "Publish", func(*v1alpha1.CatalogSelection) {}, "argocd:silver",
			[]string{"Removal argocd 1.0.0", "Removal nginx 1.0.0"}, true, "argocd: would be removed"},
		{"by both, and the spec allows it", "Publish", exclude("argocd"), "argocd:gold", []string{"Removal nginx 1.0.0"}, true, "nginx: would be removed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishGuarded(t, before, onlyGold, onEmpty(test.onEmpty))
			source := e.source(applications(t, test.after))
			e.edit(test.edit)
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.Approve = []string{digestOf([]byte("wrong"))} })
			if test.want == nil {
				e.equal("selected", e.good().cs.Status.Summary.Selected, 0)
				return
			}
			reason, _, _ := strings.Cut(test.want[0], " ")
			cs := e.hold(good, reason)
			e.equal("lost", lost(cs), test.want)
			e.equal("revision", cs.Status.Held.Revision, source.Revision)
			if message := conditions.GetMessage(cs, v1alpha1.HeldCondition); !strings.Contains(message, test.wantMessage) ||
				strings.Contains(message, "approve") != test.approvable {
				t.Errorf("the message is %q", message)
			}
			e.approve(source.Digest)
			if test.approvable {
				e.equal("selected", e.good().cs.Status.Summary.Selected, 0)
				return
			}
			e.equal("lost though approved", lost(e.hold(good, reason)), test.want)
		})
	}
}

func TestCostOfTheReasonsOfAHold(t *testing.T) {
	short := func(i int) string { return fmt.Sprintf("app%03d::9.9.9", i) }
	long := strings.Repeat("0", 240)
	for _, test := range []struct {
		name, reason  string
		before, after func(i int) string
		// reasons and versions bound the listed reasons and the versions of each; short ones reach the bounds.
		reasons, versions int
	}{
		{"many applications", "Removal", short, func(int) string { return "" }, 40, 1},
		{"many versions", "VersionRemoval", func(i int) string { return short(i) + versions(i) }, short, 7, 20},
		{"long versions", "VersionRemoval", func(i int) string {
			return short(i) + strings.ReplaceAll(versions(i), ".0", ".0-"+long)
		}, short, 0, 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before, after []string
			for i := range 150 {
				before, after = append(before, test.before(i)), append(after, test.after(i))
			}
			e, good := publishGuarded(t, "stays "+strings.Join(before, " "))
			e.source(applications(t, "stays "+strings.Join(after, " ")))
			cs := e.hold(good, test.reason)
			held := cs.Status.Held
			e.equal("total", held.Total, 150)
			if n := len(held.Reasons); n == 0 || n > 40 || test.reasons > 0 && n != test.reasons {
				t.Errorf("%d reasons", n)
			}
			for i, r := range held.Reasons {
				e.equal("application", r.Application, fmt.Sprintf("app%03d", i))
				e.equal("versions", len(r.Versions), test.versions)
			}
			e.fits(cs)
			for _, message := range []string{conditions.GetMessage(cs, v1alpha1.HeldCondition), e.events.message} {
				if !strings.Contains(message, " more; ") || !strings.HasSuffix(message, held.Approve[0]) {
					t.Errorf("the message does not explain how to release the hold: %s", message)
				}
			}
		})
	}
}

// fits expects that the object is far below the limit of etcd.
func (e *environment) fits(cs *v1alpha1.CatalogSelection) {
	e.Helper()
	size, err := json.Marshal(cs.Status)
	if err != nil {
		e.Fatal(err)
	}
	e.Logf("the status has %d bytes: %d are the record, %d are held, %d are applications", len(size),
		len(toYAML(e.T, cs.Status.WrittenRecord)), len(toYAML(e.T, cs.Status.Held)), len(toYAML(e.T, cs.Status.Applications)))
	if len(size) > 512<<10 {
		e.Errorf("the status has %d bytes", len(size))
	}
}

func TestTheReasonsAreInTheSameOrderEveryTime(t *testing.T) {
	e, good := publishGuarded(t, "z b:gold:1.0.0,2.0.0 y c a::1.0.0,2.0.0")
	e.source(applications(t, "b:gold:2.0.0 c a::1.0.0"))
	want := []string{"VersionRemoval a 2.0.0", "VersionRemoval b 1.0.0", "Removal y 1.0.0", "Removal z 1.0.0"}
	for range 3 {
		e.restart()
		e.equal("lost", lost(e.hold(good, "Removal")), want)
	}
	if !slices.Equal(e.events.take(), warned("Removal")) {
		t.Error("each object needs exactly one event")
	}
}

// v2 was held, and v3 was published before v2 was approved. The approval is used up by then, and releases
// nothing when the tag returns to v2.
func TestAnApprovalThatCameTooLateReleasesNothing(t *testing.T) {
	e, good := publishGuarded(t, "argocd nginx")
	second := e.source(applications(t, "argocd"))
	e.hold(good, "Removal")
	e.source(applications(t, "argocd nginx falco"))
	e.good()
	e.approve(second.Digest) // the pull request of the hold is merged
	e.good()
	e.source(applications(t, "argocd nginx falco tempo"))
	good = e.good()
	e.source(applications(t, "argocd"))
	cs := e.hold(good, "Removal")
	e.equal("lost", lost(cs), []string{"Removal falco 1.0.0", "Removal nginx 1.0.0", "Removal tempo 1.0.0"})
}
