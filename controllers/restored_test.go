// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/record"
)

// restore puts the status of an older publication back, as a backup does, and restarts the controller.
func (e *environment) restore(old *v1alpha1.CatalogSelection) {
	e.Helper()
	e.rewrite(func(s *v1alpha1.CatalogSelectionStatus) { old.Status.DeepCopyInto(s) })
}

func TestARestoredStatusAnnouncesNothing(t *testing.T) {
	for _, trouble := range []trouble{
		{name: "the source has no artifact", cause: func(e *environment) { e.setArtifact("OCIRepository", e.key("catalog"), nil) }},
		{name: "the catalog is invalid", cause: func(e *environment) { e.source([]byte("this is no catalog")) }},
		{name: "the download fails", cause: func(e *environment) { serve(http.NotFound)(e) }},
		{name: "its archive is gone as well", cause: func(e *environment) {
			e.setArtifact("OCIRepository", e.key("catalog"), nil)
			for _, file := range e.archiveFiles() {
				if !strings.HasSuffix(file, filepath.Base(e.announced("kkp").Status.Artifact.Path)) {
					if err := os.Remove(file); err != nil {
						e.Fatal(err)
					}
				}
			}
		}},
	} {
		t.Run(trouble.name, func(t *testing.T) {
			e, first := publishGuarded(t, "argocd")
			second := e.source(applications(t, "argocd nginx"))
			good := e.good()
			e.restore(first.cs)
			trouble.cause(e)
			for range 3 {
				_, _ = e.tryReconcile("kkp")
				e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(good.announced))
				if e.download(good.announced) == nil {
					t.Fatal("the archive that the ExternalArtifact names is gone")
				}
			}
			e.setArtifact("OCIRepository", e.key("catalog"), second)
			e.source(applications(t, "argocd nginx"))
			e.equal("what is published again", e.good().announced.Status.Artifact.Revision, good.announced.Status.Artifact.Revision)
			e.equal("revisions", len(slices.Compact(e.traffic.revisions)), 2)
		})
	}
}

func TestARestoredStatusIsNoBaseline(t *testing.T) {
	for name, edit := range map[string]specEdit{
		"the catalog takes away":           func(*v1alpha1.CatalogSelection) {},
		"an edit takes the same away":      limited("argocd", "falco"),
		"the first revision was published": func(*v1alpha1.CatalogSelection) {},
	} {
		t.Run(name, func(t *testing.T) {
			e, first := publishGuarded(t, "argocd")
			e.source(applications(t, "argocd nginx"))
			good := e.good()
			words := "argocd falco"
			if strings.HasPrefix(name, "the first") {
				words = "argocd"
			}
			e.source(applications(t, words))
			e.hold(good, "Removal")
			e.restore(first.cs)
			e.edit(edit)
			e.approve("nginx") // it may be used
			cs := e.reconcile("kkp")
			e.equal("lost", lost(cs), []string{"Removal nginx 1.0.0"})
			e.equal("conditions", conditionsOf(cs), []string{"Held=True Removal", "Ready=False Removal", "Stalled=True Removal"})
			want := "the ExternalArtifact names " + good.announced.Status.Artifact.Revision + ", which the status does not know: it is older: nginx: would be removed"
			if message := conditions.GetMessage(cs, v1alpha1.HeldCondition); !strings.HasPrefix(message, want) {
				t.Errorf("the message is %q", message)
			}
			e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(good.announced))
			e.equal("approve", cs.Status.Held.Approve, []string{"nginx#2"})
			e.approveHeld()
			published := e.good()
			r, err := record.Read(published.cs)
			if err != nil {
				t.Fatal(err)
			}
			revision := func(p lastGood) string { return p.announced.Status.Artifact.Revision }
			if got := r.Revisions[:2]; !slices.Equal(got, []string{revision(published), revision(good)}) {
				t.Errorf("the record has the revisions %q", got)
			}
			e.equal("used", used(published.cs), []string{"nginx", "nginx#2"})
		})
	}
}

// A status that was restored twice, the second time from a backup of the first restore: what was added and used in between is used.
func TestALineThatWasUsedBetweenTwoRestores(t *testing.T) {
	e, first := publishGuarded(t, "argocd")
	e.source(applications(t, "argocd nginx"))
	good := e.good()
	e.restore(first.cs)
	e.source(applications(t, "argocd"))
	e.approve("nginx") // it may be used
	backup := e.reconcile("kkp")
	e.equal("approve", backup.Status.Held.Approve, []string{"nginx#2"})
	e.approveHeld()
	e.good()
	e.source(applications(t, "argocd nginx"))
	e.equal("the revision of before", e.good().announced.Status.Artifact.Revision, good.announced.Status.Artifact.Revision)
	e.ahead(time.Minute)

	e.restore(backup)
	e.source(applications(t, "argocd"))
	cs := e.reconcile("kkp")
	e.equal("lost", lost(cs), []string{"Removal nginx 1.0.0"})
	e.equal("approve again", cs.Status.Held.Approve, []string{"nginx#3"})
	e.approveHeld()
	e.good()
}

// A revision that the record knows was published before, but once more after the status was written.
func TestARestoredStatusOfARevisionThatCameBack(t *testing.T) {
	e, first := publishGuarded(t, "argocd nginx")
	e.source(applications(t, "argocd nginx falco"))
	second := e.good()
	content := applications(t, "argocd nginx")
	e.approve("falco")
	e.source(content)
	third := e.good()
	e.equal("the third", third.cs.Status.Artifact.Revision, first.cs.Status.Artifact.Revision)
	later := metav1.NewTime(second.cs.Status.Artifact.LastUpdateTime.Add(1e9))
	announced := e.announced("kkp")
	announced.Status.Artifact.LastUpdateTime = later
	if err := apiServer.Status().Update(t.Context(), announced); err != nil {
		t.Fatal(err)
	}
	e.restore(second.cs)
	e.setArtifact("OCIRepository", e.key("catalog"), nil)
	e.reconcile("kkp")
	e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(announced))
}

// The status is restored to that of the first publication, and the third is of the same revision: lines were used in between.
// What it has is known without its archive.
func TestARestoredStatusOfTheSameRevision(t *testing.T) {
	for name, lose := range map[string]bool{"": false, "and the archive is gone": true} {
		t.Run(name, func(t *testing.T) { restoreTheSameRevision(t, lose) })
	}
}

func restoreTheSameRevision(t *testing.T, loseArchive bool) {
	e, first := publishGuarded(t, "argocd nginx")
	e.source(applications(t, "argocd"))
	e.approve("nginx")
	e.good()
	e.source(applications(t, "argocd nginx"))
	third := e.good()
	e.equal("the third", third.cs.Status.Artifact.Revision, first.cs.Status.Artifact.Revision)
	e.restore(first.cs)
	if loseArchive {
		for _, file := range e.archiveFiles() {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	e.source(applications(t, "argocd"))
	cs := e.reconcile("kkp")
	e.equal("lost", lost(cs), []string{"Removal nginx 1.0.0"})
	e.equal("approve", cs.Status.Held.Approve, []string{"nginx#2"})
	e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(third.announced))
	e.approveHeld()
	e.good()
}

// Of the ExternalArtifact nothing is left, and of the status an older one, perhaps of a time of conflict.
func TestAnArchiveThatARestoredStatusDoesNotKnow(t *testing.T) {
	for name, empty := range map[string]func(*environment, *v1alpha1.CatalogSelection){
		"the ExternalArtifact is gone": func(e *environment, _ *v1alpha1.CatalogSelection) { e.remove(e.announced("kkp")) },
		"the older status is withheld": func(e *environment, old *v1alpha1.CatalogSelection) {
			old.Status.Withheld = v1alpha1.ConflictReason
			announced := e.announced("kkp")
			announced.Status.Artifact = nil
			if err := apiServer.Status().Update(e.Context(), announced); err != nil {
				e.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { restoreWithoutAnnouncement(t, empty) })
	}
}

func restoreWithoutAnnouncement(t *testing.T, empty func(*environment, *v1alpha1.CatalogSelection)) {
	e, first := publishGuarded(t, "argocd")
	e.source(applications(t, "argocd nginx"))
	e.good()
	empty(e, first.cs)
	e.restore(first.cs)
	e.source(applications(t, "argocd falco"))
	cs := e.reconcile("kkp")
	e.equal("lost", lost(cs), []string{"Removal nginx 1.0.0"})
	if announced := e.announced("kkp"); announced != nil && announced.Status.Artifact != nil {
		t.Error("something is announced")
	}
	e.approve(cs.Status.Held.Approve...)
	e.good()
}

// While the ExternalArtifact names nothing, as in a conflict, the newest archive tells what was published last. It may be of a
// revision that the record of the restored status knows, and that was published once more since.
func TestTheArchiveOfARevisionThatCameBack(t *testing.T) {
	for _, test := range []struct {
		name    string
		restore func(first, second lastGood) *v1alpha1.CatalogSelection
		want    []string
	}{
		{"the status is of the revision between", func(_, second lastGood) *v1alpha1.CatalogSelection { return second.cs }, []string{"Removal nginx 1.0.0"}},
		{"the status is of the same revision", func(first, _ lastGood) *v1alpha1.CatalogSelection { return first.cs }, []string{"Removal nginx 1.0.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, first := publishGuarded(t, "argocd nginx")
			second := applications(t, "argocd falco")
			e.approve("nginx")
			e.source(second)
			between := e.good()
			back := applications(t, "argocd nginx")
			e.approve("falco")
			e.source(back)
			e.equal("the third", e.good().cs.Status.Artifact.Revision, first.cs.Status.Artifact.Revision)
			announced := e.announced("kkp")
			file := filepath.Join(e.archiveDir("kkp"), filepath.Base(announced.Status.Artifact.Path))
			later := between.cs.Status.Artifact.LastUpdateTime.Add(time.Second)
			if err := os.Chtimes(file, later, later); err != nil {
				t.Fatal(err)
			}
			old := test.restore(first, between)
			old.Status.Withheld = v1alpha1.ConflictReason
			announced.Status.Artifact = nil
			if err := apiServer.Status().Update(t.Context(), announced); err != nil {
				t.Fatal(err)
			}
			e.restore(old)
			e.source(applications(t, "argocd"))
			e.equal("lost", lost(e.reconcile("kkp")), test.want)
		})
	}
}

// A storage may have archives that the record has forgotten: those of a pod that leads again. They are no newer publication.
func TestAnArchiveThatIsOlderThanTheStatus(t *testing.T) {
	for _, test := range []struct {
		name string
		age  time.Duration // before the published artifact
		want []string
	}{
		{"long before", time.Hour, nil},
		{"within the difference of two clocks", 30 * time.Second, []string{"Removal nginx 1.0.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, _ := publishGuarded(t, "argocd nginx")
			old := e.archiveFiles()[0]
			second := applications(t, "argocd")
			e.approve("nginx")
			e.source(second)
			good := e.good()
			forgotten := filepath.Join(e.archiveDir("kkp"), strings.Repeat("0", 64)+".tar.gz")
			written := good.cs.Status.Artifact.LastUpdateTime.Add(-test.age)
			for _, err := range []error{
				os.Rename(old, forgotten), os.Chtimes(forgotten, written, written),
				os.Remove(filepath.Join(e.archiveDir("kkp"), filepath.Base(good.announced.Status.Artifact.Path))),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			e.remove(e.announced("kkp"))
			e.restart()
			e.equal("lost", lost(e.reconcile("kkp")), test.want)
			if announced := e.announced("kkp"); (announced != nil && announced.Status.Artifact != nil) != (test.want == nil) {
				t.Errorf("announced is %v", announced)
			}
		})
	}
}

func TestANewerArtifactThatCannotBeRead(t *testing.T) {
	e, first := publishGuarded(t, "argocd")
	e.source(applications(t, "argocd nginx"))
	good := e.good()
	e.restore(first.cs)
	e.emptyStorage()
	third := e.source(applications(t, "argocd nginx falco"))
	e.approve(third.Digest, "nginx")
	cs := e.reconcile("kkp")
	e.equal("lost", lost(cs), []string{"BaselineLost "})
	e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(good.announced))
	e.source(applications(t, "argocd nginx"))
	e.good() // the same content loses nothing
}

// A crash after the archive was stored is no publication.
func TestACrashBeforeTheStatusIsNoDisagreement(t *testing.T) {
	e, good := publishGuarded(t, "argocd")
	e.source(applications(t, "argocd nginx"))
	e.traffic.before = crashAt("patch CatalogSelection/status")
	if _, err := e.tryReconcile("kkp"); !errors.Is(err, errDead) {
		t.Errorf("Reconcile() = %v", err)
	}
	e.traffic.before = nil
	e.restart()
	e.source(applications(t, "argocd falco"))
	e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(good.announced))
	e.good()
}

// Nobody has applied the archive of a crash, also when the ExternalArtifact is lost.
func TestACrashBeforeTheStatusIsNoBaseline(t *testing.T) {
	e, _ := publishGuarded(t, "argocd nginx")
	e.source(applications(t, "argocd nginx falco"))
	e.traffic.before = crashAt("patch CatalogSelection/status")
	if _, err := e.tryReconcile("kkp"); !errors.Is(err, errDead) {
		t.Errorf("Reconcile() = %v", err)
	}
	e.traffic.before = nil
	e.remove(e.announced("kkp"))
	e.restart()
	e.source(applications(t, "argocd nginx"))
	e.good()
}

// A restored namespace has no status, neither that of the selection nor that of its Kustomization. The definitions of the
// cluster still have the labels of both.
func TestAUsedLineReleasesNothingAfterARestoreOfTheNamespace(t *testing.T) {
	for _, test := range []struct {
		name, labels string // labels are those of the selection whose artifact was applied
		want         []string
	}{
		{"the selection was published", "kkp", []string{"Adoption 1.0.0"}},
		{"another selection was published", "other", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			name := c.environment.own("argocd")
			c.environment.live("argocd:1.0.0,2.0.0", func(u *unstructured.Unstructured) {
				u.SetLabels(map[string]string{
					v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue, v1alpha1.NameLabel: test.labels, v1alpha1.NamespaceLabel: c.namespace,
					"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": c.namespace,
				})
			})
			c.source(applications(t, name+"::2.0.0"))
			line := name + "/1.0.0:live"
			c.selection("kkp", compared, guarded, approving(line))
			c.consumer("apps", "kkp", pruning)
			var held []string
			for _, line := range lost(c.reconcile("kkp")) {
				held = append(held, strings.ReplaceAll(line, " "+name, ""))
			}
			c.equal("lost", held, test.want)
			if test.want != nil {
				c.equal("approve", c.approveHeld(), []string{line + "#2"})
			}
			c.settle("kkp")
			c.ready("kkp")
		})
	}
}

// A backup has the objects, but neither their owners, nor UIDs.
func TestAnExternalArtifactOfThisSelectionIsTakenBack(t *testing.T) {
	for name, own := range map[string]func(*metav1.OwnerReference) []metav1.OwnerReference{
		"without an owner": func(*metav1.OwnerReference) []metav1.OwnerReference { return nil },
		"under another UID": func(owner *metav1.OwnerReference) []metav1.OwnerReference {
			owner.UID = "0"
			return []metav1.OwnerReference{*owner}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, good := publishGuarded(t, "argocd nginx")
			disown := func() {
				announced := e.announced("kkp")
				announced.OwnerReferences = own(metav1.GetControllerOf(announced))
				if err := apiServer.Update(t.Context(), announced); err != nil {
					t.Fatal(err)
				}
			}
			disown()
			e.restart()
			e.equal("the ExternalArtifact", essence(e.good().announced), essence(good.announced))
			if !metav1.IsControlledBy(e.announced("kkp"), e.get("kkp")) {
				t.Errorf("the owners are %v", e.announced("kkp").OwnerReferences)
			}
			disown()
			e.rewrite(func(s *v1alpha1.CatalogSelectionStatus) { *s = v1alpha1.CatalogSelectionStatus{} })
			e.source(applications(t, "argocd"))
			e.equal("lost", lost(e.reconcile("kkp")), []string{"Removal nginx 1.0.0"})
		})
	}
}

// What a restored status names is not pushed over what was pushed after it.
func TestARestoredStatusMovesNoTag(t *testing.T) {
	p := newPushing(t)
	first := p.settle()
	p.source(applications(t, "argocd"))
	second := p.settle()
	pushed, _ := p.tagged("latest")
	p.restore(first)
	p.setArtifact("OCIRepository", p.key("catalog"), nil)
	p.reconcile("kkp")
	p.push()
	p.reconcile("kkp")
	if now, _ := p.tagged("latest"); now != pushed {
		t.Errorf("latest is %s, and was %s", now, pushed)
	}
	p.source(applications(t, "argocd"))
	cs := p.settle()
	p.equal("revision", cs.Status.Artifact.Revision, second.Status.Artifact.Revision)
	p.equal("push", cs.Status.Push.URL, second.Status.Push.URL)
	if now, _ := p.tagged("latest"); now != pushed {
		t.Errorf("published again, latest is %s, and was %s", now, pushed)
	}
}

// Neither an archive is left nor an ExternalArtifact that names one, as after a restore to an empty data directory, or in a
// conflict. The inventory still tells what was applied.
func TestARestoredStatusWithoutAnArtifactIsCompared(t *testing.T) {
	for _, test := range []struct {
		name     string
		conflict bool
		after    []string
		edit     specEdit
		want     []string
	}{
		{"the catalog takes away what is applied", false, []string{"argocd"}, without(), []string{"Removal nginx"}},
		{"the catalog takes away what the status knows", false, []string{"nginx"}, without(), []string{"Removal argocd 1.0.0"}},
		{"the catalog takes away what is applied, after a conflict", true, []string{"argocd"}, without(), []string{"Removal nginx"}},
		{"an edit takes away what the status knows, and is applied", false, []string{"argocd", "nginx"}, limited("nginx"), []string{"Removal argocd 1.0.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, first := twice(t, func(*liveCluster) {})
			c.remove(c.announced("kkp"))
			c.emptyStorage()
			if test.conflict {
				first.Status.Withheld = v1alpha1.ConflictReason
			}
			c.rewrite(func(s *v1alpha1.CatalogSelectionStatus) { first.Status.DeepCopyInto(s) })
			c.restart()
			c.catalog(test.after...)
			c.change("kkp", test.edit)
			for range 2 {
				c.settle("kkp")
				c.equal("lost", lost(c.get("kkp")), test.want)
				if announced := c.announced("kkp"); announced != nil && announced.Status.Artifact != nil {
					t.Fatalf("the ExternalArtifact names %s", announced.Status.Artifact.Revision)
				}
			}
			c.change("kkp", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.Approve = cs.Status.Held.Approve })
			c.settle("kkp")
			c.ready("kkp")
		})
	}
}
