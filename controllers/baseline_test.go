// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"os"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

// written returns a record in the form of the status, nil without one.
func written(packed []byte) *v1alpha1.WrittenRecord {
	if packed == nil {
		return nil
	}
	return &v1alpha1.WrittenRecord{Format: record.CurrentFormat, Packed: packed}
}

// forge replaces the record in the status.
func (e *environment) forge(record []byte) {
	e.Helper()
	cs := e.get("kkp")
	cs.Status.WrittenRecord = written(record)
	if err := apiServer.Status().Update(e.Context(), cs); err != nil {
		e.Fatal(err)
	}
}

// damage overwrites the served archive.
func (e *environment) damage() {
	e.Helper()
	for _, file := range e.archiveFiles() {
		if err := os.WriteFile(file, []byte("garbage"), 0o600); err != nil {
			e.Fatal(err)
		}
	}
}

// Without a record, the definitions in the artifact are the baseline.
func TestWithoutARecordTheArtifactIsCompared(t *testing.T) {
	for name, record := range map[string][]byte{"no record": nil, "garbage": []byte("garbage"), "an empty mapping": sourcetest.Gzip(t, []byte("{}"))} {
		t.Run(name, func(t *testing.T) {
			e, good := publishGuarded(t, "argocd::1.0.0,2.0.0 nginx", patchOf("argocd", removeFirstVersion))
			e.forge(record)
			good.cs.Status.WrittenRecord = written(record)
			e.source(applications(t, "argocd falco"))
			e.equal("lost", lost(e.hold(good, "Removal")), []string{"Removal nginx 1.0.0", "VersionRemoval argocd 2.0.0"})
			e.restart()
			e.hold(good, "Removal")
			e.approveHeld()
			if cs := e.good().cs; cs.Status.WrittenRecord == nil {
				t.Error("there is no record again")
			}
		})
	}
}

// The ExternalArtifact refers to the last publication.
func TestAStatusThatIsWipedLosesNothing(t *testing.T) {
	e, good := publishGuarded(t, "argocd nginx")
	e.source(applications(t, "argocd"))
	e.hold(good, "Removal")
	cs := e.get("kkp")
	cs.Status = v1alpha1.CatalogSelectionStatus{}
	if err := apiServer.Status().Update(e.Context(), cs); err != nil {
		t.Fatal(err)
	}
	e.restart()
	cs = e.reconcile("kkp")
	e.equal("lost", lost(cs), []string{"Removal nginx 1.0.0"})
	e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(good.announced))
	e.approve(cs.Status.Held.Approve...)
	e.good()
}

func TestWithoutRecordAndArchiveEveryChangeIsHeld(t *testing.T) {
	for name, record := range map[string][]byte{"no record": nil, "garbage": []byte("garbage"), "an empty mapping": sourcetest.Gzip(t, []byte("{}"))} {
		for what, words := range map[string]string{"a removal": "argocd", "an addition": "argocd nginx falco"} {
			t.Run(name+", "+what, func(t *testing.T) {
				e, good := publishGuarded(t, "argocd nginx")
				e.forge(record)
				good.cs.Status.WrittenRecord = written(record)
				e.damage()
				source := e.source(applications(t, words))
				e.approve(source.Digest, "nginx")
				render := func(cs *v1alpha1.CatalogSelection) []string {
					e.equal("approve", cs.Status.Held.Approve, cs.Status.Held.Reasons[0].Approve)
					if len(cs.Status.Held.Approve) != 1 || cs.Status.Held.Approve[0] == source.Digest {
						t.Errorf("approve is %q", cs.Status.Held.Approve)
					}
					return cs.Status.Held.Approve
				}
				held := &v1alpha1.HeldStatus{
					Revision: source.Revision, Total: 1, Reasons: []v1alpha1.HeldReason{{
						Reason: "BaselineLost",
						Message: "what was published last is not known, so that what this revision takes away is not known either: " +
							"status.writtenRecord is missing or cannot be read, and the archive is damaged",
					}},
				}
				cs := e.reconcile("kkp")
				held.Approve = render(cs)
				held.Reasons[0].Approve = held.Approve
				e.equal("held", cs.Status.Held, held)
				e.restart()
				e.edit(exclude("nginx"))
				cs = e.reconcile("kkp")
				held.Approve = render(cs)
				held.Reasons[0].Approve = held.Approve
				e.equal("held after an edit", cs.Status.Held, held)
				e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(good.announced))
				e.approve(held.Approve...)
				if cs := e.good().cs; cs.Status.WrittenRecord == nil {
					t.Error("there is no record again")
				}
			})
		}
	}
}

// While the catalog renders the published artifact, its record can be restored.
func TestALostRecordIsRestored(t *testing.T) {
	e, good := publishGuarded(t, "argocd nginx")
	e.forge([]byte("garbage"))
	e.restart()
	e.good()
	e.source(applications(t, "argocd"))
	e.equal("lost", lost(e.hold(good, "Removal")), []string{"Removal nginx 1.0.0"})
}
