// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
)

const (
	older1     = "latest@sha256:1111111111111111"
	gateClosed = "can't access 'ExternalArtifact/apps/kkp', ExternalArtifact feature gate is disabled"
)

func TestTheStatusListsConsumers(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd")
	c.selection("kkp")
	cs, _ := c.publish("kkp")
	revision := consumers.RevisionOf(cs)
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
		"True Succeeded: applied by 3 of 3 Kustomizations, revision "+bounds.ShortChecksum(revision))
	c.catalog("argocd", "nginx")
	cs = c.look()
	c.equal("Applied of the next revision", appliedCondition(conditions.Get(cs, v1alpha1.AppliedCondition)),
		"False Progressing: Kustomization "+n.namespace+"/afar: has not applied the revision yet; and 2 more")
}

func TestAppliedSaysThatTheRevisionIsNotFetched(t *testing.T) {
	c := publishing(t)
	c.catalog("argocd", "nginx")
	c.look()
	c.report("apps", func(ks *kustomizev1.Kustomization) {
		ks.Status.Conditions = []metav1.Condition{readyCondition(metav1.ConditionFalse, "ArtifactFailed", "artifact digest changed, retrying")}
	})
	waits := func() string { return conditions.GetMessage(c.look(), v1alpha1.AppliedCondition) }
	if got := waits(); !strings.Contains(got, "artifact digest changed") || strings.Contains(got, "5 minutes") {
		t.Errorf("Applied is %q", got)
	}
	c.pass(6 * time.Minute)
	if got := waits(); !strings.Contains(got, "for more than 5 minutes it has not fetched the revision") {
		t.Errorf("Applied after the time is %q", got)
	}
}

func TestAppliedIsOfTheArtifactThatIsServed(t *testing.T) {
	c := publishing(t)
	c.edit(limited("none"))
	c.edit(guarded)
	cs := c.look()
	c.equal("conditions", conditionsOf(cs), []string{"Held=True Removal", "Ready=True Succeeded"})
	c.equal("Applied", conditions.GetReason(cs, v1alpha1.AppliedCondition), "Succeeded")
	c.remove(c.kustomization("apps"))
	c.setArtifact(sourcev1.OCIRepositoryKind, c.key("catalog"), nil)
	cs = c.look()
	c.equal("Applied while the source is not ready", conditions.GetReason(cs, v1alpha1.AppliedCondition), "NoConsumer")
	c.equal("consumers", cs.Status.Consumers, []v1alpha1.ConsumerStatus(nil))
}

// helm-controller before 1.6 has no such field.
func TestAppliedNamesTheReleaseThatIsNeeded(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd")
	c.selection("kkp")
	c.publish("kkp")
	c.consumer("apps", "kkp")
	c.report("apps", func(ks *kustomizev1.Kustomization) {
		ks.Status.Conditions = []metav1.Condition{readyCondition(metav1.ConditionFalse, "ReconciliationFailed",
			"HelmRelease/web/web dry-run failed: failed to create typed patch object: .spec.upgrade.chartNameChangeStrategy: field not declared in schema\n")}
	})
	message := conditions.Get(c.look(), v1alpha1.AppliedCondition).Message
	if !strings.Contains(message, "; instances of the backend Helm need Flux 2.9 (helm-controller 1.6) or newer") {
		t.Errorf("Applied: %s", message)
	}
}

func TestAppliedNamesTheFileOfTheRefusedApplication(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd")
	c.selection("kkp")
	c.publish("kkp")
	c.consumer("apps", "kkp")
	const refused = "ApplicationDefinition/argocd dry-run failed: failed to create typed patch object: .spec.x: field not declared in schema"
	c.report("apps", func(ks *kustomizev1.Kustomization) {
		ks.Status.Conditions = []metav1.Condition{readyCondition(metav1.ConditionFalse, "ReconciliationFailed", refused+"\n")}
	})
	cs := c.look()
	c.equal("Applied", appliedCondition(conditions.Get(cs, v1alpha1.AppliedCondition)),
		"False ApplyFailed: Kustomization "+c.namespace+"/apps: no application is applied, because the API server refuses argocd "+
			"(applications/argocd/application.yaml of source catalog): "+refused)
}
