// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/metrics"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

const secretNotFound = `failed to get credential: secrets "pull" not found`

// setReady sets the condition Ready of a source, and creates the source without an artifact if it is missing.
func (e *environment) setReady(kind string, key client.ObjectKey, status metav1.ConditionStatus, reason, message string) {
	e.Helper()
	source := source.Kinds()[kind]
	if err := apiServer.Get(e.Context(), key, source); err != nil {
		e.setArtifact(kind, key, nil)
		if err := apiServer.Get(e.Context(), key, source); err != nil {
			e.Fatal(err)
		}
	}
	conditions.Set(source.(conditions.Setter), &metav1.Condition{Type: meta.ReadyCondition, Status: status, Reason: reason, Message: message})
	if err := apiServer.Status().Update(e.Context(), source); err != nil {
		e.Fatal(err)
	}
}

// sourceReady returns the condition as "<status> <reason>: <message>", without the namespace of the test.
func (e *environment) sourceReady(cs *v1alpha1.CatalogSelection) string {
	c := conditions.Get(cs, v1alpha1.SourceReadyCondition)
	if c == nil {
		return "none"
	}
	return string(c.Status) + " " + c.Reason + ": " + strings.ReplaceAll(c.Message, e.namespace+"/", "")
}

const everySourceIsReady = "True Succeeded: every source is ready"

func TestAFailingSourceIsReportedWhileTheLastGoodArtifactIsServed(t *testing.T) {
	e, good := publishGuarded(t, "argocd")
	e.equal("SourceReady", e.sourceReady(good.cs), everySourceIsReady)
	e.setReady("OCIRepository", e.key("catalog"), metav1.ConditionFalse, "AuthenticationFailed", secretNotFound)
	cs := e.reconcile("kkp")
	e.equal("SourceReady", e.sourceReady(cs), "False AuthenticationFailed: source OCIRepository catalog: "+secretNotFound)
	e.equal("other conditions", conditionsOf(cs), []string{"Ready=True Succeeded"})
	e.equal("Ready", conditions.GetMessage(cs, meta.ReadyCondition),
		conditions.GetMessage(good.cs, meta.ReadyCondition)+"; a source fails, see SourceReady")
	e.untouched(good)
	e.equal("events", e.events.take(), warned("AuthenticationFailed"))
	e.equal("the message of the event", strings.ReplaceAll(e.events.message, e.namespace+"/", ""), "source OCIRepository catalog: "+secretNotFound)

	e.setReady("OCIRepository", e.key("catalog"), metav1.ConditionFalse, "AuthenticationFailed", "401 from port 4711")
	e.equal("SourceReady", e.sourceReady(e.reconcile("kkp")), "False AuthenticationFailed: source OCIRepository catalog: 401 from port 4711")
	e.restart()
	e.reconcile("kkp")
	e.equal("events of another message", e.events.take(), []string(nil))

	e.setReady("OCIRepository", e.key("catalog"), metav1.ConditionFalse, "OCIArtifactPullFailed", "manifest unknown")
	e.reconcile("kkp")
	e.equal("events of another reason", e.events.take(), warned("OCIArtifactPullFailed"))

	e.setReady("OCIRepository", e.key("catalog"), metav1.ConditionTrue, "Succeeded", "stored artifact")
	cs = e.reconcile("kkp")
	e.equal("SourceReady", e.sourceReady(cs), everySourceIsReady)
	e.equal("Ready", conditions.GetMessage(cs, meta.ReadyCondition), conditions.GetMessage(good.cs, meta.ReadyCondition))
	e.equal("events of the recovery", e.events.take(), []string{"Normal Succeeded CatalogSelection", "Normal Succeeded ExternalArtifact"})
	e.untouched(good)
}

// source-controller sets Unknown between two failures, for example when it retries the pull of an artifact.
func TestAFailingSourceThatIsTriedAgainStillFails(t *testing.T) {
	e, good := publishGuarded(t, "argocd")
	report := func(status metav1.ConditionStatus, reason, message string) *v1alpha1.CatalogSelection {
		e.setReady("OCIRepository", e.key("catalog"), status, reason, message)
		return e.reconcile("kkp")
	}
	report(metav1.ConditionFalse, "OCIArtifactPullFailed", "no such layer")
	e.equal("events of the failure", e.events.take(), warned("OCIArtifactPullFailed"))
	for range 2 {
		cs := report(metav1.ConditionUnknown, "Progressing", "building artifact")
		e.equal("SourceReady during a retry", e.sourceReady(cs), "False OCIArtifactPullFailed: source OCIRepository catalog: no such layer")
		report(metav1.ConditionFalse, "OCIArtifactPullFailed", "no such layer")
	}
	report(metav1.ConditionUnknown, "Progressing", "building artifact")
	e.equal("events of the same failure", e.events.take(), []string(nil))
	e.equal("SourceReady", e.sourceReady(report(metav1.ConditionTrue, "Succeeded", "stored artifact")), everySourceIsReady)
	e.equal("events of the recovery", e.events.take(), []string{"Normal Succeeded CatalogSelection", "Normal Succeeded ExternalArtifact"})
	e.untouched(good)

	report(metav1.ConditionFalse, "OCIArtifactPullFailed", "no such layer")
	e.sourceOf("OCIRepository", e.key("other"), applications(t, "argocd"))
	e.setReady("OCIRepository", e.key("other"), metav1.ConditionUnknown, "Progressing", "building artifact")
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "other" })
	e.equal("SourceReady of another source", e.sourceReady(e.reconcile("kkp")), "Unknown Progressing: source OCIRepository other: building artifact")
}

func TestBeforeAPublicationReadyHasTheMessageOfTheSource(t *testing.T) {
	for _, test := range []struct {
		name  string
		cause func(*environment)
		// ready is the message of Ready, events those of the CatalogSelection, which has no ExternalArtifact.
		sourceReady, ready string
		events             []string
	}{
		{
			"a source that fails", func(e *environment) {
				e.setReady("OCIRepository", e.key("catalog"), metav1.ConditionFalse, "AuthenticationFailed", secretNotFound)
			},
			"False AuthenticationFailed: source OCIRepository catalog: " + secretNotFound,
			"source OCIRepository catalog has no artifact yet: " + secretNotFound,
			[]string{"Warning AuthenticationFailed CatalogSelection"},
		},
		{
			"a source that fails without a message", func(e *environment) {
				e.setReady("OCIRepository", e.key("catalog"), metav1.ConditionFalse, "OCIArtifactPullFailed", "")
			},
			"False OCIArtifactPullFailed: source OCIRepository catalog: OCIArtifactPullFailed",
			"source OCIRepository catalog has no artifact yet: OCIArtifactPullFailed",
			[]string{"Warning OCIArtifactPullFailed CatalogSelection"},
		},
		{
			"a source whose message has secrets in URLs, and lines", func(e *environment) {
				e.setReady("OCIRepository", e.key("catalog"), metav1.ConditionFalse, "OCIArtifactPullFailed",
					"cannot clone 'https://me:hunter2@git.example.com/a@b', nor ssh://me:hunt@hunter2@git.example.com: GET https://s3.example.com/blob?X-Signature=hunter2:\n\x1b[31m403\n")
			},
			"False OCIArtifactPullFailed: source OCIRepository catalog: " +
				"cannot clone 'https://***@git.example.com/a@b', nor ssh://***@git.example.com: GET https://s3.example.com/blob:  [31m403",
			"source OCIRepository catalog has no artifact yet: " +
				"cannot clone 'https://***@git.example.com/a@b', nor ssh://***@git.example.com: GET https://s3.example.com/blob:  [31m403",
			[]string{"Warning OCIArtifactPullFailed CatalogSelection"},
		},
		{
			"a source that is reconciling", func(e *environment) {
				e.setReady("OCIRepository", e.key("catalog"), metav1.ConditionUnknown, "Progressing", "reconciliation in progress")
			},
			"Unknown Progressing: source OCIRepository catalog: reconciliation in progress",
			"source OCIRepository catalog has no artifact yet: reconciliation in progress", nil,
		},
		{
			"a source that was never reconciled", func(e *environment) { e.setArtifact("OCIRepository", e.key("catalog"), nil) },
			"Unknown SourceNotReady: source OCIRepository catalog: Flux has not reconciled it yet",
			"source OCIRepository catalog has no artifact yet: Flux has not reconciled it yet", nil,
		},
		{
			"no source", func(*environment) {},
			"False SourceNotReady: source OCIRepository catalog does not exist", "source OCIRepository catalog does not exist", nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			test.cause(e)
			e.selection("kkp")
			for _, events := range [][]string{test.events, nil} {
				cs := e.reconcile("kkp")
				e.equal("SourceReady", e.sourceReady(cs), test.sourceReady)
				e.equal("conditions", conditionsOf(cs), retried("SourceNotReady"))
				e.equal("Ready", strings.ReplaceAll(conditions.GetMessage(cs, meta.ReadyCondition), e.namespace+"/", ""), test.ready)
				e.equal("events", e.events.take(), events)
			}
			e.source(applications(t, "argocd"))
			e.setReady("OCIRepository", e.key("catalog"), metav1.ConditionTrue, "Succeeded", "stored artifact")
			cs, _ := e.publish("kkp")
			e.equal("SourceReady", e.sourceReady(cs), everySourceIsReady)
			e.equal("events", e.events.take(), []string{"Normal Succeeded CatalogSelection", "Normal Succeeded ExternalArtifact"})
		})
	}
}

func TestAllFailingSourcesAreReported(t *testing.T) {
	e := newEnvironment(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		e.sourceOf("GitRepository", e.key(name), applications(t, "argocd"))
	}
	e.selection("kkp", func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources = nil
		for _, name := range []string{"a", "b", "c", "d"} {
			cs.Spec.Sources = append(cs.Spec.Sources, v1alpha1.SourceReference{Kind: "GitRepository", Name: name})
		}
	})
	e.publish("kkp")
	e.setReady("GitRepository", e.key("a"), metav1.ConditionUnknown, "Progressing", "cloning")
	e.setReady("GitRepository", e.key("b"), metav1.ConditionTrue, "Succeeded", "stored artifact")
	e.setReady("GitRepository", e.key("c"), metav1.ConditionFalse, "GitOperationFailed", "no route to host")
	e.setReady("GitRepository", e.key("d"), metav1.ConditionFalse, "AuthenticationFailed", strings.Repeat("x", 10_000))
	e.equal("SourceReady", e.sourceReady(e.reconcile("kkp")), "False GitOperationFailed: source GitRepository c: no route to host; "+
		"source GitRepository d: "+strings.Repeat("x", 512-3)+"...; source GitRepository a: cloning")
}

// A tenant must not get the messages of other tenants' sources.
func TestTheMessageOfAForbiddenSourceIsNotReported(t *testing.T) {
	e := newEnvironment(t)
	e.reconciler.sources.NoCrossNamespaceRefs = true
	e.setReady("OCIRepository", client.ObjectKey{Namespace: "default", Name: e.namespace}, metav1.ConditionFalse, "AuthenticationFailed", secretNotFound)
	e.selection("kkp", func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources[0].Namespace, cs.Spec.Sources[0].Name = "default", e.namespace
	})
	cs := e.reconcile("kkp")
	if c := conditions.Get(cs, v1alpha1.SourceReadyCondition); c == nil || c.Status != metav1.ConditionFalse || c.Reason != "AccessDenied" {
		t.Errorf("SourceReady is %+v", c)
	}
	if strings.Contains(e.everythingWritten(), "pull") {
		t.Error("the message of the source is in the output")
	}
	e.equal("events", e.events.take(), []string{"Warning AccessDenied CatalogSelection"})
}

func TestARefusedSignatureIsReportedOnce(t *testing.T) {
	for _, test := range []struct {
		name     string
		required bool
		events   []string
	}{
		{"required", true, warned("VerificationFailed")},
		{"not required", false, warned("VerificationError")},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, _ := publishGuarded(t, "argocd")
			e.setVerified(metav1.ConditionFalse, sourcetest.Unsigned)
			e.setReady("OCIRepository", e.key("catalog"), metav1.ConditionFalse, "VerificationError", sourcetest.Unsigned)
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].RequireVerified = test.required })
			cs := e.reconcile("kkp")
			e.equal("events", e.events.take(), test.events)
			e.equal("SourceReady", e.sourceReady(cs), "False VerificationError: source OCIRepository catalog: "+sourcetest.Unsigned)
			e.reconcile("kkp")
			e.equal("events of a repetition", e.events.take(), []string(nil))
		})
	}
}

func TestAFailingSourceHasAMetric(t *testing.T) {
	e, _ := publishGuarded(t, "argocd")
	registry := prometheus.NewRegistry()
	var err error
	if e.reconciler.measured, err = metrics.New(registry, e.now); err != nil {
		t.Fatal(err)
	}
	e.setReady("OCIRepository", e.key("catalog"), metav1.ConditionFalse, "AuthenticationFailed", secretNotFound)
	e.reconcile("kkp")
	gathered, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range gathered {
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			values[labels["type"]+"="+labels["status"]] = metric.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{"SourceReady=False": 1, "SourceReady=True": 0, "Held=False": 1, "Held=True": 0, "Ready=True": 1} {
		if got, ok := values[name]; !ok || got != want {
			t.Errorf("%s is %v, %v, want %v", name, got, ok, want)
		}
	}
}

// held returns the condition as "<status> <reason>", with "of a generation before" if it is outdated.
func held(cs *v1alpha1.CatalogSelection) string {
	c := conditions.Get(cs, v1alpha1.HeldCondition)
	if c == nil {
		return "none"
	}
	line := string(c.Status) + " " + c.Reason
	if c.ObservedGeneration < cs.Generation {
		line += ", of a generation before"
	}
	return line
}

// kubectl wait ignores a condition of an older generation.
func TestHeldIsAlwaysPresent(t *testing.T) {
	e := newEnvironment(t)
	e.selection("kkp", guarded)
	e.equal("held before there is a source", held(e.reconcile("kkp")), "False NothingHeld")
	e.source(applications(t, "argocd nginx"))
	e.equal("held after a publication", held(e.reconcile("kkp")), "False NothingHeld")
	e.source(applications(t, "argocd"))
	e.equal("held", held(e.reconcile("kkp")), "True Removal")
	e.setArtifact("OCIRepository", e.key("catalog"), nil)
	e.equal("held while the source has no artifact", held(e.reconcile("kkp")), "True Removal")
	e.edit(exclude("falco"))
	e.equal("held after an edit that cannot be rendered", held(e.reconcile("kkp")), "True Removal, of a generation before")
	e.source(applications(t, "argocd nginx"))
	e.equal("held once the catalog is back", held(e.reconcile("kkp")), "False NothingHeld")
	e.setArtifact("OCIRepository", e.key("catalog"), nil)
	e.edit(exclude("nginx"))
	e.equal("not held, of an edit that cannot be rendered", held(e.reconcile("kkp")), "False NothingHeld, of a generation before")
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = &v1alpha1.Limit{Expression: "(("} })
	e.equal("not held, of an edit that is wrong", held(e.reconcile("kkp")), "False NothingHeld")
}
