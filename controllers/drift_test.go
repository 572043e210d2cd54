// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"os"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// damage is an unwanted change of a publication.
type damage struct {
	name string
	do   func(e *environment)
}

func damages() []damage {
	return []damage{
		{name: "the ExternalArtifact is deleted", do: func(e *environment) { e.remove(e.announced("kkp")) }},
		{name: "its spec is edited", do: func(e *environment) {
			artifact := e.announced("kkp")
			artifact.Spec.SourceRef.Name = "other"
			e.update(artifact)
		}},
		{name: "its spec is emptied", do: func(e *environment) {
			artifact := e.announced("kkp")
			artifact.Spec.SourceRef = nil
			e.update(artifact)
		}},
		{name: "its labels are removed", do: func(e *environment) {
			artifact := e.announced("kkp")
			artifact.Labels = nil
			e.update(artifact)
		}},
		{name: "its status is edited", do: func(e *environment) {
			artifact := e.announced("kkp")
			artifact.Status.Artifact.Digest = digestOf([]byte("evil"))
			artifact.Status.Artifact.Revision = "latest@" + digestOf([]byte("evil"))
			artifact.Status.Artifact.URL = "http://evil.example/x.tar.gz"
			artifact.Status.Artifact.Metadata["more"] = "of it"
			artifact.Status.Conditions[0].Status = metav1.ConditionFalse
			e.updateStatus(artifact)
		}},
		{name: "its status is emptied", do: func(e *environment) {
			artifact := e.announced("kkp")
			artifact.Status = sourcev1.ExternalArtifactStatus{}
			e.updateStatus(artifact)
		}},
		{name: "the archive is deleted", do: func(e *environment) { e.mustRemoveAll(e.archiveFiles()[0]) }},
		{name: "the directory of the archive is deleted", do: func(e *environment) { e.mustRemoveAll(e.archiveDir("kkp")) }},
		{name: "the archive is corrupted", do: func(e *environment) {
			if err := os.WriteFile(e.archiveFiles()[0], []byte("rubbish"), 0o600); err != nil {
				e.Fatal(err)
			}
		}},
	}
}

func (e *environment) update(artifact *sourcev1.ExternalArtifact) {
	e.Helper()
	if err := apiServer.Update(e.Context(), artifact); err != nil {
		e.Fatal(err)
	}
}

func (e *environment) updateStatus(artifact *sourcev1.ExternalArtifact) {
	e.Helper()
	if err := apiServer.Status().Update(e.Context(), artifact); err != nil {
		e.Fatal(err)
	}
}

func (e *environment) mustRemoveAll(path string) {
	e.Helper()
	if err := os.RemoveAll(path); err != nil {
		e.Fatal(err)
	}
}

// essence returns the parts of an ExternalArtifact that a repair has to restore.
func essence(artifact *sourcev1.ExternalArtifact) any {
	if artifact == nil {
		return nil
	}
	status := artifact.Status.DeepCopy()
	for i := range status.Conditions {
		status.Conditions[i].LastTransitionTime = metav1.Time{}
		status.Conditions[i].ObservedGeneration -= artifact.Generation
	}
	if status.Artifact != nil {
		status.Artifact.LastUpdateTime = metav1.Time{}
	}
	return struct {
		Labels map[string]string
		Owners []metav1.OwnerReference
		Spec   sourcev1.ExternalArtifactSpec
		Status *sourcev1.ExternalArtifactStatus
	}{artifact.Labels, artifact.OwnerReferences, artifact.Spec, status}
}

func TestDriftIsRepaired(t *testing.T) {
	for _, damage := range damages() {
		t.Run(damage.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			e.selection("kkp")
			cs, announced := e.publish("kkp")
			damage.do(e)
			e.sources.Downloads()
			repaired, again := e.publish("kkp")
			e.equal("the ExternalArtifact", essence(again), essence(announced))
			e.equal("history", repaired.Status.History, cs.Status.History)
			if e.sources.Downloads() != 0 {
				t.Error("the catalog was downloaded, though it is cached")
			}
		})
	}
}

// While the catalog is unavailable, an archive in the storage stays announced, and a lost one is rendered again
// from the last published catalog.
func TestDriftIsRepairedWhateverTheSourceIs(t *testing.T) {
	for _, source := range []struct {
		name  string
		spoil func(e *environment)
		want  []string
	}{
		{"the source is gone", func(e *environment) { e.remove(newSource("OCIRepository", e.key("catalog"))) }, retried("SourceNotReady")},
		{"the catalog is invalid", func(e *environment) { e.source(catalogArchive(e.T, "applications/x/y", "")) }, stalled("InvalidCatalog")},
	} {
		for _, damage := range damages() {
			t.Run(damage.name+" while "+source.name, func(t *testing.T) {
				e := newEnvironment(t)
				good := applications(t, "argocd")
				e.source(good)
				e.selection("kkp")
				_, announced := e.publish("kkp")
				source.spoil(e)
				damage.do(e)
				cs := e.reconcile("kkp")
				e.equal("conditions", conditionsOf(cs), source.want)
				again := e.announced("kkp")
				e.equal("the ExternalArtifact", essence(again), essence(announced))
				if digestOf(e.download(again)) != cs.Status.Artifact.Digest {
					t.Error("the archive is not served")
				}
				e.source(good)
				_, again = e.publish("kkp")
				e.equal("the ExternalArtifact in the end", essence(again), essence(announced))
			})
		}
	}
}

func TestAMovedStorageIsAnnounced(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	cs, _ := e.publish("kkp")
	_, port, _ := strings.Cut(e.storage.Hostname, ":")
	e.storage.Hostname = "localhost:" + port
	e.restart()
	moved, _ := e.publish("kkp")
	want := cs.Status.Artifact.DeepCopy()
	want.URL = "http://localhost:" + port + "/" + want.Path
	e.equal("artifact", moved.Status.Artifact, want)
}

func TestOldArchivesAreCollected(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	e.publish("kkp")
	e.age()
	e.publish("kkp")
	e.equal("number of archives", len(e.archiveFiles()), 1)
	e.source(applications(t, "argocd nginx"))
	e.events.take()
	_, announced := e.publish("kkp")
	e.equal("number of archives", len(e.archiveFiles()), 1)
	if e.download(announced) == nil {
		t.Error("the current archive was collected")
	}
	e.equal("events", e.events.take(), []string{"Normal Succeeded CatalogSelection", "Normal Succeeded ExternalArtifact"})
}

// An artifact in the status is valid only in the directory of the selection: write access to a status must not
// announce archives of other selections.
func TestAForgedPathIsNotAnnounced(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("other")
	e.selection("kkp", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
	other, _ := e.publish("other")
	cs := e.get("kkp")
	cs.Status.Artifact = other.Status.Artifact
	cs.Status.Conditions = nil
	if err := apiServer.Status().Update(t.Context(), cs); err != nil {
		t.Fatal(err)
	}
	e.reconcile("kkp")
	if e.announced("kkp") != nil {
		t.Error("the archive of another selection is announced")
	}
}
