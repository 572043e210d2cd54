// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// A line counts once: what leaves later under the same name needs the next number.
func TestALineReleasesOneLoss(t *testing.T) {
	e, good := publishGuarded(t, "argocd nginx falco")
	e.source(applications(t, "argocd"))
	e.hold(good, "Removal")
	e.events.take()
	e.approve("falco")
	cs := e.hold(good, "Removal")
	e.equal("lost", lost(cs), []string{"Removal nginx 1.0.0"})
	e.equal("named", cs.Status.Held.Named, []string{"falco"})
	e.equal("approve", cs.Status.Held.Approve, []string{"nginx"})
	e.equal("events of another part", e.events.take(), warned("Removal"))

	e.source(applications(t, "argocd nginx"))
	e.equal("used", used(e.good().cs), []string{"falco"})
	e.source(applications(t, "argocd nginx falco"))
	good = e.good()
	e.source(applications(t, "argocd nginx"))
	cs = e.hold(good, "Removal")
	e.equal("lost again", lost(cs), []string{"Removal falco 1.0.0"})
	e.equal("approve", cs.Status.Held.Approve, []string{"falco#2"})
	e.approveHeld()
	e.equal("used in the end", used(e.good().cs), []string{"falco", "falco#2"})
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.Approve = nil })
	e.equal("used lines that are gone from the spec", used(e.good().cs), []string(nil))
	e.equal("lines that are remembered", len(e.get("kkp").Status.Approvals), 2)
}

func TestALineMayComeFirst(t *testing.T) {
	e, _ := publishGuarded(t, "argocd nginx")
	e.approve("nginx")
	e.good()
	e.source(applications(t, "argocd"))
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
			e.approveHeld()
			e.good()
		})
	}
}

func TestAnEmptyFirstPublicationIsAnError(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp", guarded, exclude("argocd"))
	cs := e.reconcile("kkp")
	e.equal("conditions", conditionsOf(cs), stalled("EmptyResult"))
	if message := conditions.GetMessage(cs, meta.ReadyCondition); !strings.Contains(message, "1 by exclude") {
		t.Errorf("the message is %q", message)
	}
	e.equal("events", e.events.take(), []string{"Warning EmptyResult CatalogSelection"})
	e.restart()
	e.equal("after a restart", conditionsOf(e.reconcile("kkp")), stalled("EmptyResult"))
	e.equal("events of a repetition", e.events.take(), []string(nil))
	if e.announced("kkp") != nil {
		t.Error("something was published")
	}
	e.edit(exclude())
	e.good()
}

// After the first publication, an empty result is the loss of every name, whoever causes it and whatever onRemoval is.
func TestAnEmptyResult(t *testing.T) {
	const before = "argocd:gold nginx:gold"
	for _, test := range []struct {
		name  string
		edit  specEdit
		after string
		want  []string
	}{
		{"by an edit of the limit", tierRefs("none"), before, []string{"Removal argocd 1.0.0", "Removal nginx 1.0.0"}},
		{"by the catalog", func(*v1alpha1.CatalogSelection) {}, "argocd:silver", []string{"Removal argocd 1.0.0", "Removal nginx 1.0.0"}},
		{"by the catalog, while removals are published", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Safeguards.OnRemoval = v1alpha1.SafeguardPublish
		}, "argocd:silver", []string{"Removal argocd 1.0.0", "Removal nginx 1.0.0"}},
		{"by both", exclude("argocd"), "argocd:gold", []string{"Removal nginx 1.0.0"}},
		{"by spec.exclude", exclude("argocd", "nginx"), before, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishGuarded(t, before, onlyGold)
			e.source(applications(t, test.after))
			e.edit(test.edit)
			if test.want != nil {
				e.equal("lost", lost(e.hold(good, "Removal")), test.want)
				e.approveHeld()
			}
			e.equal("selected", e.good().cs.Status.Summary.Selected, 0)
			e.source(applications(t, "argocd:silver nginx:silver"))
			e.equal("selected by the next revision", e.good().cs.Status.Summary.Selected, 0)
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
		{"many applications", "Removal", short, func(int) string { return "" }, 17, 1},
		{"many versions", "VersionRemoval", func(i int) string { return short(i) + versions(i) }, short, 2, 20},
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
				if !strings.Contains(message, " more; ") || !strings.Contains(message, "add to spec.safeguards.approve: "+held.Approve[0]) {
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
	want := []string{"Removal y 1.0.0", "Removal z 1.0.0", "VersionRemoval a 2.0.0", "VersionRemoval b 1.0.0"}
	for range 3 {
		e.restart()
		e.equal("lost", lost(e.hold(good, "Removal")), want)
	}
	if !slices.Equal(e.events.take(), warned("Removal")) {
		t.Error("each object needs exactly one event")
	}
}
