// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/record"
)

// rewrite changes the status of the selection "kkp" as another version of the controller would, and restarts
// the controller.
func (e *environment) rewrite(f func(*v1alpha1.CatalogSelectionStatus)) {
	e.Helper()
	cs := e.get("kkp")
	f(&cs.Status)
	if err := apiServer.Status().Update(e.Context(), cs); err != nil {
		e.Fatal(err)
	}
	e.restart()
}

// newer maps names to records that a later version of Winnow may write.
func newer(e *environment, cs *v1alpha1.CatalogSelection) map[string]func(*v1alpha1.CatalogSelectionStatus) {
	r, err := record.Read(cs)
	if err != nil {
		e.Fatal(err)
	}
	r.Definitions = r.Definitions[:1] // this version would read another baseline
	misread, err := r.Pack()
	if err != nil {
		e.Fatal(err)
	}
	return map[string]func(*v1alpha1.CatalogSelectionStatus){
		"that looks like one of this version": func(s *v1alpha1.CatalogSelectionStatus) {
			s.WrittenRecord = &v1alpha1.WrittenRecord{Format: record.ContentsFormat + 1, Packed: misread.Packed}
		},
		"packed in another way": func(s *v1alpha1.CatalogSelectionStatus) {
			s.WrittenRecord = &v1alpha1.WrittenRecord{Format: 1<<31 - 1, Packed: []byte("zstd")}
		},
	}
}

// After a rollback, the archive is the baseline; without the archive every change is held.
func TestARecordOfANewerFormatLetsNothingPass(t *testing.T) {
	for _, name := range []string{"that looks like one of this version", "packed in another way"} {
		t.Run(name+", with the archive", func(t *testing.T) {
			e, good := publishGuarded(t, "argocd nginx")
			e.rewrite(newer(e, good.cs)[name])
			good.cs = e.get("kkp")
			e.source(applications(t, "argocd"))
			e.equal("lost", lost(e.hold(good, "Removal")), []string{"Removal nginx 1.0.0"})
		})
		t.Run(name+", without the archive", func(t *testing.T) {
			e, good := publishGuarded(t, "argocd nginx")
			e.rewrite(newer(e, good.cs)[name])
			e.damage()
			e.source(applications(t, "argocd nginx falco"))
			cs := e.reconcile("kkp")
			e.equal("lost", lost(cs), []string{"BaselineLost "})
			if message := cs.Status.Held.Reasons[0].Message; !strings.Contains(message, "of a newer Winnow, and this one reads formats up to 3") {
				t.Errorf("the message is %q", message)
			}
			e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(good.announced))
			e.approve(cs.Status.Held.Approve...)
			e.good()
		})
		t.Run(name+", and nothing else", func(t *testing.T) {
			e, good := publishGuarded(t, "argocd nginx")
			e.rewrite(func(s *v1alpha1.CatalogSelectionStatus) {
				newer(e, good.cs)[name](s)
				s.Artifact, s.History = nil, nil
			})
			e.remove(e.announced("kkp"))
			e.emptyStorage()
			e.source(applications(t, "argocd"))
			cs := e.reconcile("kkp")
			e.equal("lost", lost(cs), []string{"BaselineLost "})
			if e.announced("kkp") != nil {
				t.Error("it was published")
			}
		})
	}
}

// A restored status may have the record of another publication.
func TestARecordOfAnotherPublicationIsNone(t *testing.T) {
	e, first := publishGuarded(t, "argocd")
	e.source(applications(t, "argocd nginx"))
	second := e.good()
	e.rewrite(func(s *v1alpha1.CatalogSelectionStatus) { s.WrittenRecord = first.cs.Status.WrittenRecord })
	second.cs = e.get("kkp")
	e.source(applications(t, "argocd"))
	e.equal("lost", lost(e.hold(second, "Removal")), []string{"Removal nginx 1.0.0"})
}
