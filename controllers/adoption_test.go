// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// own gives every application in the words a name that no other test uses, because definitions are
// cluster-scoped.
func (e *environment) own(words string) string {
	var out []string
	for word := range strings.FieldsSeq(words) {
		out = append(out, e.namespace+"-"+word)
	}
	return strings.Join(out, " ")
}

// live creates definitions of "name:version,version" words in the cluster, for the test.
func (e *environment) live(words string, edit ...func(*unstructured.Unstructured)) {
	e.Helper()
	for word := range strings.FieldsSeq(e.own(words)) {
		name, versions, _ := strings.Cut(word, ":")
		u := liveDefinitionOf(name, versions)
		for _, f := range edit {
			f(u)
		}
		if err := apiServer.Create(e.Context(), u); err != nil {
			e.Fatal(err)
		}
		e.Cleanup(func() { _ = client.IgnoreNotFound(apiServer.Delete(context.Background(), u)) })
	}
}

func liveDefinitionOf(name, versions string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"method": "helm", "description": "x"}}}
	u.SetAPIVersion("apps.kubermatic.k8c.io/v1")
	u.SetKind("ApplicationDefinition")
	u.SetName(name)
	setVersions(u, versions)
	return u
}

func setVersions(u *unstructured.Unstructured, versions string) {
	list := []any{}
	for version := range strings.SplitSeq(versions, ",") {
		if version != "" {
			helm := map[string]any{"url": "https://charts.example", "chartName": "x", "chartVersion": version}
			list = append(list, map[string]any{"version": version, "template": map[string]any{"source": map[string]any{"helm": helm}}})
		}
	}
	_ = unstructured.SetNestedSlice(u.Object, list, "spec", "versions")
}

func (e *environment) editLive(name string, edit func(*unstructured.Unstructured)) {
	e.Helper()
	u := liveDefinitionOf(e.own(name), "")
	if err := apiServer.Get(e.Context(), client.ObjectKeyFromObject(u), u); err != nil {
		e.Fatal(err)
	}
	edit(u)
	if err := apiServer.Update(e.Context(), u); err != nil {
		e.Fatal(err)
	}
}

func annotated(key, value string) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{key: value}) }
}

func stalledHold(reason string) []string {
	return []string{"Held=True " + reason, "Ready=False " + reason, "Stalled=True " + reason}
}

// heldAtFirst expects a hold with one event, and no publication.
func (e *environment) heldAtFirst(reason string) *v1alpha1.CatalogSelection {
	e.Helper()
	e.events.take()
	first := e.reconcile("kkp")
	e.equal("conditions", conditionsOf(first), stalledHold(reason))
	e.equal("events", e.events.take(), []string{"Warning " + reason + " CatalogSelection"})
	if first.Status.Artifact != nil || first.Status.WrittenRecord != nil || e.announced("kkp") != nil || len(e.archiveFiles()) > 0 {
		e.Error("something was published")
	}
	e.restart()
	e.equal("the selection after a restart", e.reconcile("kkp"), first)
	e.equal("events of a repetition", e.events.take(), []string(nil))
	return first
}

func TestAFirstPublicationIsHeldThatLiveDefinitionsWouldLoseBy(t *testing.T) {
	e := newEnvironment(t)
	e.live("argocd:1.0.0,2.0.0,0.9.0 nginx:1.0.0 velero:7.0.0")
	source := e.source(applications(t, e.own("argocd::2.0.0,3.0.0 nginx::1.0.0,1.1.0 falco")))
	e.selection("kkp", guarded)
	cs := e.heldAtFirst("Adoption")
	message := "lives in the cluster with versions that would be removed: 1.0.0, 0.9.0"
	lines := []string{e.own("argocd") + "/1.0.0:live", e.own("argocd") + "/0.9.0:live"}
	e.equal("held", cs.Status.Held, &v1alpha1.HeldStatus{
		Revision: source.Revision, Approve: lines, Total: 1, Reasons: []v1alpha1.HeldReason{{
			Reason: "Adoption", Application: e.own("argocd"), Versions: []string{"1.0.0", "0.9.0"}, Message: message, Approve: lines,
		}},
	})
	message = e.own("argocd") + ": " + message + "; to publish it all the same, add to spec.safeguards.approve: " + strings.Join(lines, ", ")
	e.equal("message", conditions.GetMessage(cs, v1alpha1.HeldCondition), message)
	e.equal("message of Ready", conditions.GetMessage(cs, meta.ReadyCondition), message)
	e.approve(e.own("argocd")+"/1.0.0", e.own("argocd")) // which were never published
	e.equal("conditions with lines for others", conditionsOf(e.reconcile("kkp")), stalledHold("Adoption"))
	e.equal("lines", e.approveHeld(), lines)
	e.good()
}

func TestAnAdoptionIsReleasedByTheLiveDefinitions(t *testing.T) {
	for _, test := range []struct {
		name    string
		release func(e *environment)
	}{
		{"by an edit of the versions", func(e *environment) {
			e.editLive("argocd", func(u *unstructured.Unstructured) { setVersions(u, "2.0.0") })
		}},
		{"by the end of the definition", func(e *environment) { e.remove(liveDefinitionOf(e.own("argocd"), "")) }},
		{"by an annotation that disables Flux", func(e *environment) {
			e.editLive("argocd", annotated(reconcileAnnotation, disabled))
			e.restart()
		}},
		{"by the catalog", func(e *environment) { e.source(applications(e.T, e.own("argocd::2.0.0,1.0.0"))) }},
		{"by the spec", func(e *environment) { e.edit(exclude(e.own("argocd"))) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.live("argocd:1.0.0,2.0.0")
			e.source(applications(t, e.own("argocd::2.0.0 nginx")))
			e.selection("kkp", guarded)
			e.heldAtFirst("Adoption")
			test.release(e)
			if cs := e.good().cs; cs.Status.Held != nil {
				t.Errorf("held is %v", cs.Status.Held)
			}
		})
	}
}

func TestAnApplicationThatEntersIsChecked(t *testing.T) {
	for _, test := range []struct {
		name, words, later string
		enter              func(e *environment)
	}{
		{name: "by the spec", words: "argocd nginx::2.0.0 falco", later: "argocd nginx::2.0.0 falco", enter: func(e *environment) { e.edit(exclude()) }},
		{name: "by the catalog", words: "falco", later: "argocd nginx::2.0.0 falco", enter: func(*environment) {}},
		{name: "by both", words: "argocd falco", later: "argocd nginx::2.0.0 falco", enter: func(e *environment) { e.edit(exclude()) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.live("argocd:0.1.0 nginx:1.0.0,2.0.0")
			e.source(applications(t, e.own(test.words)))
			e.selection("kkp", guarded, func(cs *v1alpha1.CatalogSelection) {
				if strings.Contains(test.words, "argocd") {
					cs.Spec.Exclude = strings.Fields(e.own("argocd nginx"))
				}
			})
			good := e.good()
			e.source(applications(t, e.own(test.later)))
			test.enter(e)
			want := []string{"Adoption " + e.own("argocd") + " 0.1.0", "Adoption " + e.own("nginx") + " 1.0.0"}
			cs := e.hold(good, "Adoption")
			e.equal("lost", lost(cs), want)
			e.equal("events", e.events.take(), warned("Adoption"))
			e.restart()
			e.equal("lost after a restart", lost(e.hold(good, "Adoption")), want)
			e.approve(cs.Status.Held.Approve...)
			e.good()
		})
	}
}
