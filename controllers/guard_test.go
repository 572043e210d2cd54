// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// guarded resets the safeguards to the defaults of the API server.
func guarded(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards = v1alpha1.Safeguards{} }

// lastGood is the publication that a hold must not change.
type lastGood struct {
	cs        *v1alpha1.CatalogSelection
	announced *sourcev1.ExternalArtifact
	served    []byte
}

// publishGuarded publishes the selection "kkp" of a catalog of these words, with default safeguards.
func publishGuarded(t *testing.T, words string, edit ...func(*v1alpha1.CatalogSelection)) (*environment, lastGood) {
	t.Helper()
	e := newEnvironment(t)
	e.source(applications(t, words))
	e.selection("kkp", append([]func(*v1alpha1.CatalogSelection){guarded}, edit...)...)
	return e, e.good()
}

// good publishes, and returns the publication.
func (e *environment) good() lastGood {
	e.Helper()
	cs, announced := e.publish("kkp")
	e.events.take()
	return lastGood{cs: cs, announced: announced, served: e.download(announced)}
}

// untouched expects that the last good artifact, and its status, are unchanged.
func (e *environment) untouched(good lastGood) {
	e.Helper()
	e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(good.announced))
	if !bytes.Equal(e.download(good.announced), good.served) {
		e.Error("the last good artifact is not served any more")
	}
	cs := e.get("kkp")
	e.equal("artifact", cs.Status.Artifact, e.announced("kkp").Status.Artifact)
	e.equal("sources", cs.Status.Sources, good.cs.Status.Sources)
	e.equal("applications", cs.Status.Applications, good.cs.Status.Applications)
	e.equal("record", cs.Status.WrittenRecord, good.cs.Status.WrittenRecord)
}

// hold reconciles, and expects a hold for this reason that changes nothing else.
func (e *environment) hold(good lastGood, reason string) *v1alpha1.CatalogSelection {
	e.Helper()
	cs := e.reconcile("kkp")
	e.equal("conditions", conditionsOf(cs), []string{"Held=True " + reason, "Ready=True Succeeded"})
	e.untouched(good)
	return cs
}

// lost lists the held changes as "<reason> <application> <versions>".
func lost(cs *v1alpha1.CatalogSelection) []string {
	var lines []string
	if cs.Status.Held == nil {
		return nil
	}
	for _, r := range cs.Status.Held.Reasons {
		lines = append(lines, strings.Join(append([]string{r.Reason, r.Application}, r.Versions...), " "))
	}
	return lines
}

// approving adds lines to spec.safeguards.approve.
func approving(lines ...string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Safeguards.Approve = append(cs.Spec.Safeguards.Approve, lines...)
	}
}

func (e *environment) approve(lines ...string) {
	e.Helper()
	e.edit(approving(lines...))
}

// approveHeld adds the lines of status.held, and returns them.
func (e *environment) approveHeld() []string {
	e.Helper()
	held := e.get("kkp").Status.Held
	if held == nil || len(held.Approve) == 0 {
		e.Fatal("no line releases what is held")
	}
	e.approve(held.Approve...)
	return held.Approve
}

// used lists the lines of the spec that are used.
func used(cs *v1alpha1.CatalogSelection) []string {
	var lines []string
	for _, a := range cs.Status.Approvals {
		if a.Used != nil && a.Left == nil {
			lines = append(lines, a.Line)
		}
	}
	return lines
}

func warned(reason string) []string {
	return []string{"Warning " + reason + " CatalogSelection", "Warning " + reason + " ExternalArtifact"}
}

func holdMajors(cs *v1alpha1.CatalogSelection) {
	cs.Spec.Safeguards.OnMajorUpgrade = v1alpha1.SafeguardHold
}

func TestWhatTheCatalogTakesAwayIsHeld(t *testing.T) {
	for _, test := range []struct {
		name          string
		edit          func(*v1alpha1.CatalogSelection)
		before, after string
		reasons       []v1alpha1.HeldReason
	}{
		{"an application", guarded, "argocd nginx::1.0.0,2.0.0", "argocd", []v1alpha1.HeldReason{{
			Reason: "Removal", Application: "nginx", Versions: []string{"1.0.0", "2.0.0"},
			Message: "would be removed, because no source has it", Approve: []string{"nginx"},
		}}},
		{"an application while another is added", guarded, "argocd nginx", "argocd nginx2 velero", []v1alpha1.HeldReason{{
			Reason: "Removal", Application: "nginx", Versions: []string{"1.0.0"}, Message: "would be removed, because no source has it",
			Approve: []string{"nginx"},
		}}},
		{"a version", guarded, "argocd::1.0.0,1.1.0", "argocd::1.1.0,1.2.0", []v1alpha1.HeldReason{{
			Reason: "VersionRemoval", Application: "argocd", Versions: []string{"1.0.0"}, Message: "versions would be removed: 1.0.0",
			Approve: []string{"argocd/1.0.0"},
		}}},
		{"a tier", onlyGold, "argocd:gold nginx:gold", "argocd:gold nginx:silver", []v1alpha1.HeldReason{{
			Reason: "Removal", Application: "nginx", Versions: []string{"1.0.0"},
			Message: `would be removed, because its tier is "silver", and limit.metadataSelector.tierRefs requires "gold"`, Approve: []string{"nginx"},
		}}},
		{"all versions that a rule selects", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Versions = []v1alpha1.VersionRule{{Constraint: "<2"}}
		}, "argocd nginx::1.0.0,2.0.0", "argocd nginx::2.0.0", []v1alpha1.HeldReason{{
			Reason: "Removal", Application: "nginx", Versions: []string{"1.0.0"},
			Message: `would be removed, because none of its versions satisfies the constraint "<2": 2.0.0`, Approve: []string{"nginx"},
		}}},
		{"the latest that a rule selects", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Versions = []v1alpha1.VersionRule{{Latest: 1}}
		}, "argocd::1.0.0", "argocd::1.0.0,1.1.0", []v1alpha1.HeldReason{{
			Reason: "VersionRemoval", Application: "argocd", Versions: []string{"1.0.0"}, Message: "versions would be removed: 1.0.0",
			Approve: []string{"argocd/1.0.0"},
		}}},
		{"a major, as configured", holdMajors, "argocd::1.0.0", "argocd::1.0.0,2.0.0", []v1alpha1.HeldReason{{
			Reason: "MajorUpgrade", Application: "argocd", Message: "would rise from 1.0.0 to 2.0.0", Approve: []string{"argocd:major/2"},
		}}},
		{"all at once", holdMajors, "argocd nginx falco::1.0.0,1.1.0", "argocd::1.0.0,v3.0.0 falco::1.1.0", []v1alpha1.HeldReason{
			{Reason: "Removal", Application: "nginx", Versions: []string{"1.0.0"}, Message: "would be removed, because no source has it", Approve: []string{"nginx"}},
			{Reason: "VersionRemoval", Application: "falco", Versions: []string{"1.0.0"}, Message: "versions would be removed: 1.0.0", Approve: []string{"falco/1.0.0"}},
			{Reason: "MajorUpgrade", Application: "argocd", Message: "would rise from 1.0.0 to v3.0.0", Approve: []string{"argocd:major/3"}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishGuarded(t, test.before, test.edit)
			source := e.source(applications(t, test.after))
			reason := test.reasons[0].Reason
			cs := e.hold(good, reason)
			e.equal("held", cs.Status.Held, &v1alpha1.HeldStatus{
				Revision: source.Revision, Approve: linesOf(test.reasons),
				Reasons: test.reasons, Total: int32(len(test.reasons)),
			})
			e.equal("message", conditions.GetMessage(cs, v1alpha1.HeldCondition), messageOf(test.reasons))
			e.equal("message of Ready", conditions.GetMessage(cs, meta.ReadyCondition),
				conditions.GetMessage(good.cs, meta.ReadyCondition)+"; a change is held")
			e.equal("events", e.events.take(), warned(reason))
			e.staysHeld(good, reason)
			lines := e.approveHeld()
			e.equal("used", used(e.good().cs), lines)
		})
	}
}

// linesOf lists the lines of reasons.
func linesOf(reasons []v1alpha1.HeldReason) []string {
	var lines []string
	for _, r := range reasons {
		lines = append(lines, r.Approve...)
	}
	return lines
}

func messageOf(reasons []v1alpha1.HeldReason) string {
	var parts []string
	for _, r := range reasons {
		parts = append(parts, r.Application+": "+r.Message)
	}
	return strings.Join(parts, "; ") + "; to publish it all the same, add to spec.safeguards.approve: " + strings.Join(linesOf(reasons), ", ")
}

// staysHeld expects that steps without an effect cause no writes and no events.
func (e *environment) staysHeld(good lastGood, reason string) {
	e.Helper()
	first := e.get("kkp")
	for _, step := range []func(){
		func() {},
		e.restart,
		func() { e.emptyStorage(); e.restart(); e.reconcile("kkp") },
		func() {
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Interval = metav1.Duration{Duration: time.Hour} })
		},
		func() { e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"not-there"} }) },
		func() { e.approve("loki", digestOf([]byte("another render"))) },
		func() {
			e.edit(func(cs *v1alpha1.CatalogSelection) {
				cs.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "now"}
			})
		},
	} {
		step()
		cs := e.hold(good, reason)
		e.equal("held", cs.Status.Held, first.Status.Held)
		e.equal("since", conditions.Get(cs, v1alpha1.HeldCondition).LastTransitionTime,
			conditions.Get(first, v1alpha1.HeldCondition).LastTransitionTime)
	}
	e.equal("events", e.events.take(), []string(nil))
	e.equal("revisions", e.traffic.revisions, []string{good.cs.Status.Artifact.Revision})
}
