// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/test/sourcetest"
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

// older packs a record in the form of status.published.
func (e *environment) older(r record.Record, format int32) []byte {
	e.Helper()
	if r.Format = format; format == 0 {
		r.Sources, r.Revisions = nil, nil
	}
	content, err := json.Marshal(r)
	if err != nil {
		e.Fatal(err)
	}
	return sourcetest.Gzip(e.T, content)
}

// Missing fields of the record excuse no loss, and the next publication writes it in the current format.
func TestARecordOfAnOlderFormatIsTheBaseline(t *testing.T) {
	for _, format := range []int32{0, 1} {
		t.Run(fmt.Sprint("format ", format), func(t *testing.T) {
			e, good := publishGuarded(t, "argocd nginx")
			r, err := record.Read(good.cs)
			if err != nil {
				t.Fatal(err)
			}
			e.rewrite(func(s *v1alpha1.CatalogSelectionStatus) {
				s.WrittenRecord, s.Published = nil, e.older(*r, format)
			})
			good.cs.Status.WrittenRecord = nil
			e.damage() // leaves the record as the only baseline
			source := e.source(applications(t, "argocd"))
			cs := e.reconcile("kkp")
			e.equal("lost", lost(cs), []string{"Removal nginx 1.0.0"})
			e.approve(source.Digest)
			cs = e.good().cs
			if cs.Status.Published != nil || cs.Status.WrittenRecord == nil || cs.Status.WrittenRecord.Format != currentRecord {
				t.Errorf("the record was not written again: %d bytes, %v", len(cs.Status.Published), cs.Status.WrittenRecord)
			}
		})
	}
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
			s.WrittenRecord = &v1alpha1.WrittenRecord{Format: contentsRecord + 1, Packed: misread.Packed}
		},
		"packed in another way": func(s *v1alpha1.CatalogSelectionStatus) {
			s.WrittenRecord = &v1alpha1.WrittenRecord{Format: 1<<31 - 1, Packed: []byte("zstd")}
		},
		"in the field of older ones": func(s *v1alpha1.CatalogSelectionStatus) {
			s.WrittenRecord, s.Published = nil, e.older(*r, 2)
		},
	}
}

// After a rollback, the archive is the baseline, and no edit excuses a loss; without the archive every change
// is held.
func TestARecordOfANewerFormatLetsNothingPass(t *testing.T) {
	for _, name := range []string{"that looks like one of this version", "packed in another way", "in the field of older ones"} {
		t.Run(name+", with the archive", func(t *testing.T) {
			e, good := publishGuarded(t, "argocd nginx")
			e.rewrite(newer(e, good.cs)[name])
			good.cs = e.get("kkp")
			e.source(applications(t, "argocd"))
			e.equal("lost", lost(e.hold(good, "Removal")), []string{"Removal nginx 1.0.0"})
			e.edit(exclude("nginx"))
			e.equal("lost after an edit", lost(e.hold(good, "Removal")), []string{"Removal nginx 1.0.0"})
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

// An older controller without status.writtenRecord has published in between.
func TestARecordOfAnotherPublicationIsNone(t *testing.T) {
	for name, published := range map[string]func(*environment, record.Record) []byte{
		"with a record":              func(e *environment, r record.Record) []byte { return e.older(r, 1) },
		"with one that is too large": func(*environment, record.Record) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			e, first := publishGuarded(t, "argocd")
			e.source(applications(t, "argocd nginx"))
			second := e.good()
			r, err := record.Read(second.cs)
			if err != nil {
				t.Fatal(err)
			}
			e.rewrite(func(s *v1alpha1.CatalogSelectionStatus) {
				s.WrittenRecord, s.Published = first.cs.Status.WrittenRecord, published(e, *r)
			})
			second.cs = e.get("kkp")
			e.source(applications(t, "argocd"))
			e.equal("lost", lost(e.hold(second, "Removal")), []string{"Removal nginx 1.0.0"})
		})
	}
}
