// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

func requireVerified(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].RequireVerified = true }

// setVerified sets the condition of the OCIRepository "catalog" about its signature; an empty status removes
// it.
func (e *environment) setVerified(status metav1.ConditionStatus, message string) {
	e.Helper()
	source := &sourcev1.OCIRepository{}
	e.load(source)
	source.Status.ObservedLayerSelector = source.Spec.LayerSelector
	sourcetest.SetVerified(&source.Status.Conditions, status, message)
	if err := apiServer.Status().Update(e.Context(), source); err != nil {
		e.Fatal(err)
	}
}

// signs sets or removes spec.verify of the OCIRepository "catalog".
func (e *environment) signs(by *sourcev1.OCIRepositoryVerification) {
	e.Helper()
	source := &sourcev1.OCIRepository{}
	e.load(source)
	source.Spec.Verify, source.Spec.LayerSelector = by, sourcetest.Copied()
	if err := apiServer.Update(e.Context(), source); err != nil {
		e.Fatal(err)
	}
}

// load reads the source "catalog".
func (e *environment) load(source client.Object) {
	e.Helper()
	if err := apiServer.Get(e.Context(), e.key("catalog"), source); err != nil {
		e.Fatal(err)
	}
}

// verificationTroubles are those of a source that must be verified.
func verificationTroubles() []trouble {
	var troubles []trouble
	for _, t := range []struct {
		name      string
		by        *sourcev1.OCIRepositoryVerification
		status    metav1.ConditionStatus
		condition func(revision string) string
		message   []string
	}{
		{
			name: "a source without spec.verify is refused", status: metav1.ConditionTrue,
			condition: sourcetest.VerifiedMessage, message: []string{"OCIRepository", "/catalog", "set spec.verify"},
		},
		{
			name: "a source that Flux has not verified yet is refused", by: sourcetest.ByCosign(),
			condition: func(string) string { return "" }, message: []string{"/catalog", "not verified the artifact yet"},
		},
		{
			name: "a source that Flux could not verify is refused", by: sourcetest.ByCosign(), status: metav1.ConditionFalse,
			condition: func(string) string { return sourcetest.Unsigned }, message: []string{"/catalog", sourcetest.Unsigned},
		},
		{
			name: "a long message of Flux is cut", by: sourcetest.ByCosign(), status: metav1.ConditionFalse,
			condition: func(string) string { return strings.Repeat("x", 512+1) },
			message:   []string{"could not verify it: " + strings.Repeat("x", 512-3) + "..."},
		},
		{
			name: "a source with an unknown state is refused", by: sourcetest.ByCosign(), status: metav1.ConditionUnknown,
			condition: sourcetest.VerifiedMessage, message: []string{"not verified v1@sha256:"},
		},
		{
			name: "a source with another verified revision is refused", by: sourcetest.ByCosign(), status: metav1.ConditionTrue,
			condition: func(string) string { return sourcetest.VerifiedMessage("v2@sha256:0") },
			message:   []string{"not verified v1@sha256:", "of revision v2@sha256:0"},
		},
		{
			name: "a source with a verified revision that begins like the artifact's is refused", by: sourcetest.ByCosign(), status: metav1.ConditionTrue,
			condition: func(revision string) string { return sourcetest.VerifiedMessage(revision + "0") },
		},
		{
			name: "a source with a verified revision that ends like the artifact's is refused", by: sourcetest.ByCosign(), status: metav1.ConditionTrue,
			condition: func(revision string) string { return sourcetest.VerifiedMessage("not-" + revision) },
		},
	} {
		cause := func(e *environment) {
			e.edit(requireVerified)
			e.signs(t.by)
			source := &sourcev1.OCIRepository{}
			e.load(source)
			e.setVerified(t.status, t.condition(source.Status.Artifact.Revision))
		}
		troubles = append(troubles, trouble{name: t.name, cause: cause, want: stalled("VerificationFailed"), message: t.message})
	}
	return troubles
}

// publishVerified publishes the selection "kkp" of a catalog that is verified, and must be.
func publishVerified(t *testing.T) (*environment, lastGood) {
	t.Helper()
	e := newEnvironment(t)
	artifact := e.source(applications(t, "argocd"))
	e.signs(sourcetest.ByCosign())
	e.setVerified(metav1.ConditionTrue, sourcetest.VerifiedMessage(artifact.Revision))
	e.selection("kkp", requireVerified)
	return e, e.good()
}

// refuse reconciles, and expects that the last good artifact stays.
func (e *environment) refuse(good lastGood) {
	e.Helper()
	cs := e.reconcile("kkp")
	e.equal("conditions", conditionsOf(cs), stalled("VerificationFailed"))
	e.untouched(good)
}

// The condition refers to the next revision before its artifact exists.
func TestAnUpgradeIsNotTakenForARefusal(t *testing.T) {
	e, good := publishVerified(t)
	next := applications(t, "argocd nginx")
	revision := "v1@" + digestOf(next)
	for _, message := range []string{sourcetest.VerifiedMessage(revision), ""} {
		e.setVerified(metav1.ConditionTrue, message)
		e.good()
		e.untouched(good)
	}
	requested := e.get("kkp")
	before := requested.DeepCopy()
	requested.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "now"}
	if err := apiServer.Patch(t.Context(), requested, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	e.emptyStorage()
	e.good()

	e.setVerified(metav1.ConditionTrue, sourcetest.VerifiedMessage(revision))
	e.source(next)
	cs := e.good().cs
	e.equal("selected", cs.Status.Summary.Selected, 2)
}

func TestAnArtifactAfterTheVerifiedOneIsRefused(t *testing.T) {
	e, good := publishVerified(t)
	artifact := e.source(applications(t, "argocd nginx"))
	e.refuse(good)
	e.setVerified(metav1.ConditionTrue, sourcetest.VerifiedMessage(artifact.Revision))
	e.good()
}

// The condition at the time of the publication is not recorded.
func TestAfterARestartThePresentVerificationCounts(t *testing.T) {
	e, good := publishVerified(t)
	e.setVerified(metav1.ConditionTrue, sourcetest.VerifiedMessage("v2@sha256:0"))
	e.restart()
	e.refuse(good)
	e.setVerified(metav1.ConditionTrue, sourcetest.VerifiedMessage(good.cs.Status.Sources[0].Revision))
	e.good()
	e.untouched(good)
}

func TestARefusalIsReportedThoughNothingElseChanged(t *testing.T) {
	for name, refuse := range map[string]func(e *environment){
		"the signature is refused": func(e *environment) { e.setVerified(metav1.ConditionFalse, sourcetest.Unsigned) },
		"spec.verify is removed":   func(e *environment) { e.signs(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			e, good := publishVerified(t)
			refuse(e)
			e.refuse(good)
			e.equal("events", e.events.take(), warned("VerificationFailed"))
			e.refuse(good)
			e.equal("events of a repetition", e.events.take(), []string(nil))

			e.signs(sourcetest.ByCosign())
			e.setVerified(metav1.ConditionTrue, sourcetest.VerifiedMessage(good.cs.Status.Sources[0].Revision))
			e.good()
			e.untouched(good)
		})
	}
}

func TestALostArchiveIsRebuiltThoughItsSourceIsRefusedNow(t *testing.T) {
	e, good := publishVerified(t)
	e.setVerified(metav1.ConditionFalse, sourcetest.Unsigned)
	e.emptyStorage()
	e.restart()
	e.refuse(good)
}

func TestSignaturesAreOptional(t *testing.T) {
	e, good := publishVerified(t)
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].RequireVerified = false })
	e.setVerified(metav1.ConditionFalse, sourcetest.Unsigned)
	e.good()
	e.untouched(good)
}

func TestOneOfSeveralSourcesIsNotVerified(t *testing.T) {
	e, good := publishVerified(t)
	e.sourceOf("Bucket", e.key("more"), applications(t, "nginx"))
	e.sourceOf("GitRepository", e.key("unsigned"), applications(t, "falco"))
	e.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources = append(cs.Spec.Sources, v1alpha1.SourceReference{Kind: "Bucket", Name: "more"},
			v1alpha1.SourceReference{Kind: "GitRepository", Name: "unsigned", RequireVerified: true})
	})
	e.refuse(good)
	if message := conditions.GetMessage(e.get("kkp"), meta.ReadyCondition); !strings.Contains(message, "GitRepository "+e.namespace+"/unsigned") {
		t.Errorf("the message does not name the source: %s", message)
	}
}

func TestAVerifiedCommitIsPublished(t *testing.T) {
	e := newEnvironment(t)
	const commit = "a0c14dc8580a23f79bc654faa79c4f62b46c2c22"
	artifact := e.sourceOf("GitRepository", e.key("catalog"), applications(t, "argocd"))
	artifact.Revision = "main@sha1:" + commit
	e.setArtifact("GitRepository", e.key("catalog"), artifact)
	source := &sourcev1.GitRepository{}
	e.load(source)
	source.Spec.Verification = &sourcev1.GitRepositoryVerification{SecretRef: meta.LocalObjectReference{Name: "keys"}}
	if err := apiServer.Update(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	sourcetest.SetVerified(&source.Status.Conditions, metav1.ConditionTrue, fmt.Sprintf("verified signature of\n\t- commit '%s' with key 'K'", commit))
	if err := apiServer.Status().Update(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	e.selection("kkp", requireVerified, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Kind = "GitRepository" })
	e.publish("kkp")
}
