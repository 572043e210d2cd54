// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

func onlyGold(cs *v1alpha1.CatalogSelection) {
	cs.Spec.Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{"gold"}}}
}

// preview renders like the command line: it returns the archive and its revision.
func preview(t *testing.T, cs *v1alpha1.CatalogSelection, content []byte) (archive []byte, revision string) {
	t.Helper()
	loaded, err := render.LoadArchive(t.Context(), "catalog", bytes.NewReader(content), render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	opts, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	result, err := render.Render(t.Context(), []selection.Source{{Name: "catalog", Catalog: loaded}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := result.WriteArchive(&packed); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes(), result.Revision
}

func TestFirstPublication(t *testing.T) {
	e := newEnvironment(t)
	content := applications(t, "argocd:gold:2.0.0,1.0.0 nginx:silver velero")
	source := e.source(content)
	archive, revision := preview(t, e.selection("kkp", onlyGold), content)

	result, err := e.tryReconcile("kkp")
	if err != nil || result.RequeueAfter != 10*time.Minute {
		t.Errorf("Reconcile() = %v, %v, want the interval", result, err)
	}
	cs, announced := e.publish("kkp")

	if !bytes.Equal(e.download(announced), archive) {
		t.Error("the served archive is not the one that a preview renders")
	}
	e.equal("finalizers", len(cs.Finalizers), 0)
	size := int64(len(archive))
	path := "externalartifact/" + e.namespace + "/kkp/" + revision[len("latest@sha256:"):] + ".tar.gz"
	want := v1alpha1.CatalogSelectionStatus{
		ObservedGeneration: 1,
		Conditions:         cs.Status.Conditions,
		WrittenRecord:      cs.Status.WrittenRecord, // see record_test.go
		Claim:              &v1alpha1.Claim{Generation: 1, Open: true},
		Artifact: &meta.Artifact{
			Path: path, URL: "http://" + e.storage.Hostname + "/" + path, Revision: revision, Digest: digestOf(archive),
			LastUpdateTime: cs.Status.Artifact.LastUpdateTime, Size: &size,
			Metadata: map[string]string{"org.opencontainers.image.revision": source.Revision},
		},
		Sources: []v1alpha1.SourceStatus{{
			Kind: "OCIRepository", Name: "catalog", Namespace: e.namespace, Revision: source.Revision, Digest: source.Digest,
		}},
		SourceRevision: "v1",
		Summary:        &v1alpha1.Summary{Available: 3, Selected: 1, Excluded: 2},
		Excluded:       []string{"nginx", "velero"},
		Applications:   []v1alpha1.ApplicationStatus{{Name: "argocd", Source: "catalog", Versions: []string{"2.0.0", "1.0.0"}, Tier: "gold"}},
		History: meta.History{{
			Digest: digestOf(archive), LastReconciledStatus: "Succeeded", TotalReconciliations: 1,
			Metadata: map[string]string{"revision": revision},
		}},
	}
	if latest := cs.Status.History.Latest(); latest != nil {
		h := &want.History[0]
		h.FirstReconciled, h.LastReconciled, h.LastReconciledDuration = latest.FirstReconciled, latest.LastReconciled, latest.LastReconciledDuration
	}
	e.equal("status", cs.Status, want)
	message := "published 1 of 3 applications, revision " + revision[len("latest@"):len("latest@sha256:")+12]
	if got := conditions.GetMessage(cs, meta.ReadyCondition); got != message {
		t.Errorf("the message of Ready is %q, want %q", got, message)
	}
}

func TestTheExternalArtifactIsTheSelections(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	cs, announced := e.publish("kkp")
	e.equal("labels", announced.Labels, map[string]string{"app.kubernetes.io/managed-by": "winnow"})
	yes := true
	e.equal("owners", announced.OwnerReferences, []metav1.OwnerReference{{
		APIVersion: "catalog.winnow.dev/v1alpha1", Kind: "CatalogSelection", Name: "kkp", UID: cs.UID,
		Controller: &yes, BlockOwnerDeletion: &yes,
	}})
	e.equal("spec", announced.Spec, sourcev1.ExternalArtifactSpec{SourceRef: &meta.NamespacedObjectKindReference{
		APIVersion: "catalog.winnow.dev/v1alpha1", Kind: "CatalogSelection", Name: "kkp", Namespace: e.namespace,
	}})
	if c := conditions.Get(announced, meta.ReadyCondition); c == nil || c.Status != metav1.ConditionTrue ||
		c.Reason != "Succeeded" || c.ObservedGeneration != announced.Generation || len(announced.Status.Conditions) != 1 {
		t.Errorf("conditions of the ExternalArtifact are %v", announced.Status.Conditions)
	}
}

func TestASecondReconcileDoesNothing(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd:gold nginx"))
	e.selection("kkp", onlyGold)
	cs, announced := e.publish("kkp")
	e.traffic.taken()
	e.sources.Downloads()
	again, announcedAgain := e.publish("kkp")
	e.equal("writes", e.traffic.taken(), []string(nil))
	e.equal("the selection", again, cs)
	e.equal("the ExternalArtifact", announcedAgain, announced)
	if n := e.sources.Downloads(); n != 0 {
		t.Errorf("%d downloads", n)
	}
}

func TestWhatIsNotSelectedDoesNotChangeTheArtifact(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd:gold nginx:silver"))
	e.selection("kkp", onlyGold)
	before, announcedBefore := e.publish("kkp")
	e.events.take()
	source := e.source(applications(t, "argocd:gold nginx:silver:9.0.0 velero"))
	after, announced := e.publish("kkp")

	want := before.Status.Artifact.DeepCopy()
	want.Metadata["org.opencontainers.image.revision"] = source.Revision
	e.equal("artifact", after.Status.Artifact, want)
	e.equal("announced revision", announced.Status.Artifact.Revision, announcedBefore.Status.Artifact.Revision)
	e.equal("source", after.Status.Sources[0].Revision, source.Revision)
	e.equal("summary", after.Status.Summary, v1alpha1.Summary{Available: 3, Selected: 1, Excluded: 2})
	e.equal("history", after.Status.History, before.Status.History)
	e.equal("events", e.events.take(), []string(nil))
}

func TestAChangedDigestAtTheSameRevisionIsNoticed(t *testing.T) {
	e := newEnvironment(t)
	first := e.source(applications(t, "argocd"))
	e.selection("kkp")
	before, _ := e.publish("kkp")
	second := e.source(applications(t, "argocd nginx"))
	second.Revision = first.Revision
	e.setArtifact("OCIRepository", e.key("catalog"), second)
	after, _ := e.publish("kkp")
	if after.Status.Artifact.Revision == before.Status.Artifact.Revision || after.Status.Summary.Selected != 2 {
		t.Errorf("artifact is %v, summary %v", after.Status.Artifact, after.Status.Summary)
	}
	e.equal("sources", after.Status.Sources[0].Digest, second.Digest)
}

func TestANewRevisionIsPublished(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd:gold"))
	e.selection("kkp")
	before, _ := e.publish("kkp")
	e.events.take()
	e.source(applications(t, "argocd:gold:2.0.0"))
	after, announced := e.publish("kkp")
	e.equal("events", e.events.take(), []string{"Normal Succeeded CatalogSelection", "Normal Succeeded ExternalArtifact"})
	e.equal("event metadata", e.events.notes, map[string]string{
		"source.toolkit.fluxcd.io/revision": after.Status.Artifact.Revision,
		"source.toolkit.fluxcd.io/digest":   after.Status.Artifact.Digest,
	})
	e.equal("revisions", e.traffic.revisions, []string{before.Status.Artifact.Revision, after.Status.Artifact.Revision})
	if len(after.Status.History) != 2 || after.Status.History[0].Digest != announced.Status.Artifact.Digest {
		t.Errorf("history is %v", after.Status.History)
	}
	// A Kustomization may be about to download the previous archive.
	if old := get(t, before.Status.Artifact.URL); digestOf(old) != before.Status.Artifact.Digest {
		t.Error("the archive before is gone at once")
	}
}

func TestRequestedAtForcesARender(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	before, _ := e.publish("kkp")
	e.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "now"}
		// Only a render restores the summary, so it shows whether there was one.
		cs.Status.Summary = nil
	})
	cs := e.get("kkp")
	cs.Status.Summary = nil
	if err := apiServer.Status().Update(t.Context(), cs); err != nil {
		t.Fatal(err)
	}
	after, _ := e.publish("kkp")
	e.equal("handled request", after.Status.LastHandledReconcileAt, "now")
	e.equal("summary", after.Status.Summary, before.Status.Summary)
	e.equal("artifact", after.Status.Artifact, before.Status.Artifact)
}

func TestSuspendLeavesEverything(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	e.publish("kkp")
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
	e.source(applications(t, "argocd nginx"))
	e.traffic.taken()
	before, announced := e.get("kkp"), e.announced("kkp")
	if result, err := e.tryReconcile("kkp"); err != nil || result.RequeueAfter != 0 {
		t.Errorf("Reconcile() = %v, %v", result, err)
	}
	e.equal("writes", e.traffic.taken(), []string(nil))
	e.equal("the selection", e.get("kkp"), before)
	e.equal("the ExternalArtifact", e.announced("kkp"), announced)

	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = false })
	if resumed, _ := e.publish("kkp"); resumed.Status.Summary.Selected != 2 {
		t.Errorf("summary after resuming is %v", resumed.Status.Summary)
	}
}

func TestASelectionThatIsGoneIsNotAnError(t *testing.T) {
	e := newEnvironment(t)
	if result, err := e.tryReconcile("none"); err != nil || !result.IsZero() {
		t.Errorf("Reconcile() = %v, %v", result, err)
	}
}
