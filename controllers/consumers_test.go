package controllers

import (
	"fmt"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

const (
	older1     = "latest@sha256:1111111111111111"
	published2 = "latest@sha256:2222222222222222"
	gateClosed = "can't access 'ExternalArtifact/apps/kkp', ExternalArtifact feature gate is disabled"
	blocked    = "can't access 'ExternalArtifact/apps/kkp', cross-namespace references have been blocked"
)

// kustomized returns a Kustomization that applied one revision, tried another one last, and has
// the condition Ready; none of an empty status.
func kustomized(applied, attempted string, status metav1.ConditionStatus, reason, message string) *kustomizev1.Kustomization {
	ks := &kustomizev1.Kustomization{}
	ks.Namespace, ks.Name = "flux-system", "apps"
	ks.Status.LastAppliedRevision, ks.Status.LastAttemptedRevision = applied, attempted
	if status != "" {
		ks.Status.Conditions = []metav1.Condition{readyCondition(status, reason, message)}
	}
	return ks
}

func suspended(ks *kustomizev1.Kustomization) *kustomizev1.Kustomization {
	ks.Spec.Suspend = true
	return ks
}

type consumerCase struct {
	name            string
	ks              *kustomizev1.Kustomization
	reason, message string
}

func consumerCases() []consumerCase {
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	const progressing = "has not applied the revision yet"
	return []consumerCase{
		{"it has applied the revision", kustomized(published2, published2, yes, "ReconciliationSucceeded", "Applied"), "", ""},
		{"it applies the revision once more", kustomized(published2, published2, unknown, "Progressing", "Reconciliation in progress"), "", ""},
		{"it has applied the revision and is suspended", suspended(kustomized(published2, published2, yes, "ReconciliationSucceeded", "Applied")), "", ""},
		{"it has applied an older revision", kustomized(older1, older1, yes, "ReconciliationSucceeded", "Applied"), "Progressing", progressing},
		{"it is new", kustomized("", "", "", "", ""), "Progressing", progressing},
		{"it is at work at first", kustomized("", "", unknown, "Progressing", "Fetching"), "Progressing", progressing},
		{"it is at work at the revision", kustomized(older1, published2, unknown, "Progressing", "Fetching"), "Progressing", progressing},
		{"it failed at the revision", kustomized(older1, published2, no, "ReconciliationFailed", "no such kind"), "ApplyFailed", "no such kind"},
		{"it failed at the revision that it had applied", kustomized(published2, published2, no, "HealthCheckFailed", "timeout"), "ApplyFailed", "timeout"},
		{"it failed at an older revision", kustomized(older1, older1, no, "ReconciliationFailed", "no such kind"), "Progressing", progressing},
		{"it failed before it tried any", kustomized("", "", no, "ArtifactFailed", "404"), "ApplyFailed", "404"},
		{"it is suspended at an older revision", suspended(kustomized(older1, older1, yes, "ReconciliationSucceeded", "Applied")), "Suspended", "is suspended"},
		{"it was suspended after it failed", suspended(kustomized(older1, published2, no, "ReconciliationFailed", "no such kind")), "Suspended", "is suspended"},
		{"the feature gate is off", kustomized("", "", no, "AccessDenied", gateClosed), "FeatureGateDisabled",
			gateClosed + "; start kustomize-controller with --feature-gates=ExternalArtifact=true"},
		{"the feature gate was turned off later", kustomized(older1, older1, no, "AccessDenied", gateClosed), "FeatureGateDisabled",
			gateClosed + "; start kustomize-controller with --feature-gates=ExternalArtifact=true"},
		{"the feature gate was turned off after the revision", kustomized(published2, published2, no, "AccessDenied", gateClosed), "FeatureGateDisabled",
			gateClosed + "; start kustomize-controller with --feature-gates=ExternalArtifact=true"},
		{"references across namespaces are blocked", kustomized("", "", no, "AccessDenied", blocked), "ApplyFailed", blocked},
		{"a failure that talks of a feature gate is not the gate", kustomized("", "", no, "ReconciliationFailed", "a feature gate is disabled"),
			"ApplyFailed", "a feature gate is disabled"},
		{"a long message is cut", kustomized("", "", no, "ReconciliationFailed", strings.Repeat("é", 400)), "ApplyFailed", strings.Repeat("é", 254) + "..."},
	}
}

func TestAConsumerIsJudged(t *testing.T) {
	for _, test := range consumerCases() {
		for _, remote := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, remote %t", test.name, remote), func(t *testing.T) {
				ks := test.ks.DeepCopy()
				if remote {
					remotely(ks)
				}
				got := consumerOf(ks, published2)
				want := consumer{reason: test.reason, ConsumerStatus: v1alpha1.ConsumerStatus{
					Namespace: "flux-system", Name: "apps", Remote: remote, Revision: ks.Status.LastAppliedRevision, Message: test.message,
				}}
				if got != want {
					t.Errorf("consumerOf() = %+v, want %+v", got, want)
				}
			})
		}
	}
}

// judged returns consumers by their reasons, of which a remote one begins with "remote ".
func judged(reasons ...string) consumers {
	c := consumers{known: true}
	for i, reason := range reasons {
		reason, remote := strings.CutPrefix(reason, "remote ")
		item := consumer{reason: reason}
		item.Namespace, item.Name, item.Remote, item.Message = "apps", fmt.Sprintf("ks-%d", i), remote, "says "+reason
		if reason == "done" {
			item.reason, item.Message = "", ""
		}
		c.items = append(c.items, item)
	}
	return c
}

func TestApplied(t *testing.T) {
	for _, test := range []struct {
		name      string
		consumers consumers
		want      string
	}{
		{"Kustomizations cannot be seen", consumers{}, ""},
		{"none uses the artifact", judged(), "Unknown NoConsumer: no Kustomization in this cluster uses the ExternalArtifact"},
		{"all are done", judged("done", "remote done"), "True Succeeded: applied by 2 of 2 Kustomizations, revision latest@sha256:222222222222"},
		{"one is on its way", judged("done", "Progressing"), "False Progressing: Kustomization apps/ks-1: says Progressing"},
		{"a remote one counts as well", judged("done", "remote Progressing"), "False Progressing: Kustomization apps/ks-1: says Progressing"},
		{"suspension is worse than progress", judged("Progressing", "Suspended"), "False Suspended: Kustomization apps/ks-1: says Suspended; and 1 more"},
		{"failure is worse than suspension", judged("Suspended", "ApplyFailed", "Progressing"), "False ApplyFailed: Kustomization apps/ks-1: says ApplyFailed; and 2 more"},
		{"the feature gate is worst", judged("ApplyFailed", "FeatureGateDisabled", "ApplyFailed"), "False FeatureGateDisabled: Kustomization apps/ks-1: says FeatureGateDisabled; and 2 more"},
		{"of the same the first one is told", judged("done", "ApplyFailed", "ApplyFailed"), "False ApplyFailed: Kustomization apps/ks-1: says ApplyFailed; and 1 more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := appliedCondition(test.consumers.applied(published2)); got != test.want {
				t.Errorf("applied() = %q, want %q", got, test.want)
			}
			if got := test.consumers.applied(""); got != nil {
				t.Errorf("Applied is %v though nothing is published", got)
			}
		})
	}
}

func TestWhereConsumersAct(t *testing.T) {
	type acts struct{ may, here, applied bool }
	for _, test := range []struct {
		name      string
		consumers consumers
		want      acts
	}{
		{"unknown ones", consumers{}, acts{may: true}},
		{"none", judged(), acts{may: true}},
		{"a local one", judged("done"), acts{may: true, here: true, applied: true}},
		{"a local one on its way", judged("Progressing"), acts{may: true, here: true}},
		{"a remote one", judged("remote done"), acts{}},
		{"both", judged("remote Progressing", "done"), acts{may: true, here: true, applied: true}},
		{"both, the local one on its way", judged("remote done", "Progressing"), acts{may: true, here: true}},
		{"two local ones, one on its way", judged("done", "Suspended"), acts{may: true, here: true}},
	} {
		c := test.consumers
		if got := (acts{c.mayActHere(), c.actHere(), c.appliedHere()}); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestTheConsumersInTheStatusAreBounded(t *testing.T) {
	var reasons []string
	for range 3 * maxConsumers {
		reasons = append(reasons, "ApplyFailed")
	}
	c := judged(reasons...)
	if got := c.statuses(); len(got) != maxConsumers || got[0].Name != "ks-0" {
		t.Errorf("%d consumers are listed", len(got))
	}
	if got := c.applied(published2).Message; !strings.HasSuffix(got, fmt.Sprintf("; and %d more", 3*maxConsumers-1)) {
		t.Errorf("the message is %q", got)
	}
}

func TestTheStatusTellsOfConsumers(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd")
	c.selection("kkp")
	cs, _ := c.publish("kkp")
	revision := revisionOf(cs)
	c.equal("Applied without a consumer", conditions.GetReason(cs, v1alpha1.AppliedCondition), "NoConsumer")

	n := c.neighbor()
	n.consumer("afar", "kkp", func(ks *kustomizev1.Kustomization) { ks.Spec.SourceRef.Namespace = c.namespace })
	n.consumer("other", "kkp") // of the artifact of that name in its own namespace
	c.consumer("zeta", "kkp", remotely)
	c.consumer("apps", "kkp")
	c.consumer("git", "kkp", func(ks *kustomizev1.Kustomization) { ks.Spec.SourceRef.Kind = sourcev1.GitRepositoryKind })
	c.reports("apps", revision)
	n.reports("afar", revision)
	c.report("zeta", func(ks *kustomizev1.Kustomization) {
		ks.Status.Conditions = []metav1.Condition{readyCondition(metav1.ConditionFalse, "AccessDenied", gateClosed)}
	})
	cs = c.look()
	gate := gateClosed + "; start kustomize-controller with --feature-gates=ExternalArtifact=true"
	c.equal("consumers", cs.Status.Consumers, []v1alpha1.ConsumerStatus{
		{Namespace: n.namespace, Name: "afar", Revision: revision},
		{Namespace: c.namespace, Name: "apps", Revision: revision},
		{Namespace: c.namespace, Name: "zeta", Remote: true, Message: gate},
	})
	c.equal("Applied", appliedCondition(conditions.Get(cs, v1alpha1.AppliedCondition)),
		"False FeatureGateDisabled: Kustomization "+c.namespace+"/zeta: "+gate)
	c.unchanged()

	c.reports("zeta", revision)
	cs = c.look()
	c.equal("Applied", appliedCondition(conditions.Get(cs, v1alpha1.AppliedCondition)),
		"True Succeeded: applied by 3 of 3 Kustomizations, revision "+shortRevision(revision))
	c.catalog("argocd", "nginx")
	cs = c.look()
	c.equal("Applied of the next revision", appliedCondition(conditions.Get(cs, v1alpha1.AppliedCondition)),
		"False Progressing: Kustomization "+n.namespace+"/afar: has not applied the revision yet; and 2 more")
}

func TestAppliedIsOfTheArtifactThatIsServed(t *testing.T) {
	c := publishing(t)
	c.edit(without("argocd", "nginx"))
	cs := c.look()
	c.equal("conditions", conditionsOf(cs), []string{"Held=True EmptyResult", "Ready=True Succeeded"})
	c.equal("Applied", conditions.GetReason(cs, v1alpha1.AppliedCondition), "Succeeded")
	c.remove(c.kustomization("apps"))
	c.setArtifact(sourcev1.OCIRepositoryKind, c.key("catalog"), nil)
	cs = c.look()
	c.equal("Applied while the source is not ready", conditions.GetReason(cs, v1alpha1.AppliedCondition), "NoConsumer")
	c.equal("consumers", cs.Status.Consumers, []v1alpha1.ConsumerStatus(nil))
}

func TestAKustomizationConcernsTheSelectionOfItsArtifact(t *testing.T) {
	kkp := &kustomizev1.Kustomization{}
	kkp.Namespace = "apps"
	kkp.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.ExternalArtifactKind, Name: "kkp"}
	edited := func(edit func(*kustomizev1.Kustomization)) client.Object {
		ks := kkp.DeepCopy()
		edit(ks)
		return ks
	}
	git := edited(func(ks *kustomizev1.Kustomization) {
		ks.Generation, ks.Spec.SourceRef.Kind = 2, sourcev1.GitRepositoryKind
	})
	elsewhere := edited(func(ks *kustomizev1.Kustomization) { ks.Generation, ks.Spec.SourceRef.Namespace = 2, "infra" })
	for _, test := range []struct {
		name         string
		older, newer client.Object
		want         []string
	}{
		{"a new one", nil, kkp, []string{"apps/kkp"}},
		{"one that is gone", kkp, nil, []string{"apps/kkp"}},
		{"a new one of another source", nil, git, nil},
		{"one that changes its source", kkp, git, []string{"apps/kkp"}},
		{"one that takes it", git, kkp, []string{"apps/kkp"}},
		{"one that takes another artifact", kkp, elsewhere, []string{"apps/kkp", "infra/kkp"}},
		{"a changed spec", kkp, edited(func(ks *kustomizev1.Kustomization) { ks.Generation++ }), []string{"apps/kkp"}},
		{"an applied revision", kkp, edited(func(ks *kustomizev1.Kustomization) { ks.Status.LastAppliedRevision = older1 }), []string{"apps/kkp"}},
		{"an attempted revision", kkp, edited(func(ks *kustomizev1.Kustomization) { ks.Status.LastAttemptedRevision = older1 }), []string{"apps/kkp"}},
		{"a condition", kkp, edited(func(ks *kustomizev1.Kustomization) {
			ks.Status.Conditions = []metav1.Condition{readyCondition(metav1.ConditionFalse, "Failed", "")}
		}), []string{"apps/kkp"}},
		{"a handled request", kkp, edited(func(ks *kustomizev1.Kustomization) { ks.Status.LastHandledReconcileAt = "now" }), nil},
		{"a longer history", kkp, edited(func(ks *kustomizev1.Kustomization) { ks.Status.History = meta.History{{Digest: "sha256:1"}} }), nil},
		{"a resync", kkp, kkp, nil},
	} {
		var got []string
		for _, key := range concernedByKustomization(t.Context(), test.older, test.newer) {
			got = append(got, key.String())
		}
		if strings.Join(got, " ") != strings.Join(test.want, " ") {
			t.Errorf("%s concerns %v, want %v", test.name, got, test.want)
		}
	}
}
