// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/registry"
)

// gone makes the URL of an artifact return 404, like Flux some time after the next artifact.
func (e *environment) gone(artifacts ...*meta.Artifact) {
	for _, artifact := range artifacts {
		e.sources.Handle("/"+artifact.Path, http.NotFound)
	}
}

// lostHold expects that nothing is served, and one event.
func (e *environment) lostHold(announced *sourcev1.ExternalArtifact, reason string) {
	e.Helper()
	for _, events := range [][]string{warned(reason), nil} {
		cs := e.reconcile("kkp")
		e.equal("conditions", conditionsOf(cs), []string{"Held=True " + reason, "Ready=False " + reason, "Stalled=True " + reason})
		for _, condition := range []string{meta.ReadyCondition, v1alpha1.HeldCondition} {
			if message := conditions.GetMessage(cs, condition); !strings.Contains(message, "is lost") {
				e.Errorf("%s does not say that the archive is lost: %s", condition, message)
			}
		}
		e.equal("events", e.events.take(), events)
	}
	e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(announced))
	e.equal("revisions", e.traffic.revisions, []string{announced.Status.Artifact.Revision})
}

func TestALostArchiveIsRebuiltWhileItsSuccessorIsHeld(t *testing.T) {
	const before, after = "argocd:gold:1.0.0,2.0.0 nginx:gold falco:gold", "argocd:gold:1.0.0,2.0.0 falco:gold"
	for _, test := range []struct {
		name string
		// lose runs after the archive is lost.
		lose func(e *environment, old *meta.Artifact)
	}{
		{"from the cache", func(e *environment, old *meta.Artifact) { e.gone(old) }},
		{"by another download", func(e *environment, _ *meta.Artifact) { e.restart() }},
		{"with the recorded spec", func(e *environment, _ *meta.Artifact) {
			e.restart()
			e.edit(exclude("falco"))
			e.edit(constrain(">=2", "argocd"))
		}},
		{"though the spec is not valid any more", func(e *environment, _ *meta.Artifact) {
			e.restart()
			e.edit(patchOf("none", "x"))
		}},
		{"though the source has no artifact any more", func(e *environment, _ *meta.Artifact) {
			e.restart()
			e.setArtifact("OCIRepository", e.key("catalog"), nil)
		}},
		{"though the source is gone", func(e *environment, _ *meta.Artifact) {
			e.restart()
			e.remove(newSource("OCIRepository", e.key("catalog")))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishGuarded(t, before, onlyGold)
			old := e.source(applications(t, before))
			e.source(applications(t, after))
			e.hold(good, "Removal")
			e.events.take()
			e.emptyStorage()
			test.lose(e, old)
			_, _ = e.tryReconcile("kkp")
			e.untouched(good)
			if held := e.get("kkp").Status.Held; held == nil && conditions.IsReady(e.get("kkp")) {
				t.Error("it is Ready, and nothing is held")
			}
			e.emptyStorage()
			_, _ = e.tryReconcile("kkp")
			e.untouched(good)
			e.equal("revisions", e.traffic.revisions, []string{good.cs.Status.Artifact.Revision})
		})
	}
}

// archivedAgain packs the files of an archive as source-controller of another Go does: into other bytes.
func archivedAgain(t *testing.T, archive []byte) []byte {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&again, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(compressor, plain); err != nil {
		t.Fatal(err)
	}
	if err := compressor.Close(); err != nil {
		t.Fatal(err)
	}
	return again.Bytes()
}

// Flux has archived the revision again since, and serves it at the same URL with another digest.
func TestALostArchiveIsRebuiltOfARevisionWithAnotherDigest(t *testing.T) {
	const names = "argocd:gold:1.0.0,2.0.0 nginx:gold falco:gold"
	for _, test := range []struct {
		name, serves string
		rebuilt      bool
	}{{"the same files", names, true}, {"other files", "argocd:gold:2.0.0 nginx:gold falco:gold", false}} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishGuarded(t, names, onlyGold)
			artifact := e.source(applications(t, names)).DeepCopy()
			e.reconcile("kkp")
			again := archivedAgain(t, applications(t, test.serves))
			e.sources.Handle("/"+artifact.Path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(again) })
			artifact.Digest = digestOf(again)
			e.setArtifact("OCIRepository", e.key("catalog"), artifact)
			e.edit(constrain(">=2", "argocd"))
			e.emptyStorage()
			e.restart()
			_, _ = e.tryReconcile("kkp")
			if cs := e.get("kkp"); cs.Status.Held == nil {
				t.Errorf("nothing is held: %v", conditionsOf(cs))
			}
			if _, err := os.Stat(e.storage.LocalPath(*e.announced("kkp").Status.Artifact)); (err == nil) != test.rebuilt {
				t.Errorf("the archive: %v", err)
			}
			e.equal("revisions", e.traffic.revisions, []string{good.cs.Status.Artifact.Revision})
		})
	}
}

func TestALostArchiveOfSeveralSourcesIsRebuilt(t *testing.T) {
	e := newEnvironment(t)
	at := func(dir, name, version string) []byte {
		return catalogArchive(t, dir+"/applications/"+name+"/application.yaml", definition(name, version),
			"applications/other/application.yaml", definition("other", "1.0.0"))
	}
	old := []*meta.Artifact{
		e.sourceOf("OCIRepository", e.key("a"), at("deploy/x", "argocd", "1.0.0")),
		e.sourceOf("GitRepository", e.key("b"), at("y", "argocd", "9.0.0")),
		e.sourceOf("Bucket", e.key("c"), applications(t, "nginx velero")),
	}
	e.selection("kkp", guarded, func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources = []v1alpha1.SourceReference{
			{Name: "a", Path: "deploy/x", Format: v1alpha1.FormatApplications}, {Kind: "GitRepository", Name: "b", Path: "y"},
			{Kind: "Bucket", Name: "c", Format: v1alpha1.FormatApplications},
		}
	})
	good := e.good()
	e.sourceOf("Bucket", e.key("c"), applications(t, "nginx"))
	e.sourceOf("OCIRepository", e.key("a"), at("deploy/x", "argocd", "1.1.0"))
	e.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources[0], cs.Spec.Sources[1] = cs.Spec.Sources[1], cs.Spec.Sources[0]
	})
	e.emptyStorage()
	e.restart()
	e.hold(good, "Removal")
	e.equal("revisions", e.traffic.revisions, []string{good.cs.Status.Artifact.Revision})

	e.gone(old[1])
	e.emptyStorage()
	e.restart()
	e.events.take()
	// The lost artifact of b is also its current one.
	if _, err := e.tryReconcile("kkp"); err == nil {
		t.Error("Reconcile() = nil for an unavailable source")
	}
	e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(good.announced))
}

func TestAPermanentLossOfAnArchiveIsReported(t *testing.T) {
	const before = "argocd nginx"
	for _, test := range []struct {
		name  string
		spoil func(e *environment, old *meta.Artifact)
	}{
		{"the recorded source is deleted", func(e *environment, old *meta.Artifact) { e.gone(old) }},
		{"its URL serves something else", func(e *environment, old *meta.Artifact) {
			e.sources.Handle("/"+old.Path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(applications(e.T, "evil")) })
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishGuarded(t, before)
			old := e.source(applications(t, before))
			e.source(applications(t, "argocd"))
			e.hold(good, "Removal")
			e.events.take()
			test.spoil(e, old)
			e.emptyStorage()
			e.restart()
			e.lostHold(good.announced, "Removal")
			e.approveHeld()
			e.good()
		})
	}
}

// Users may have write access to the status: it must not cause another artifact.
func TestForgedRecordsAreNotRebuilt(t *testing.T) {
	for _, test := range []struct {
		name  string
		forge func(e *environment, cs *v1alpha1.CatalogSelection, r *record.Record)
	}{
		{"no URLs", func(_ *environment, _ *v1alpha1.CatalogSelection, r *record.Record) { r.URLs = nil }},
		{"more URLs than sources", func(_ *environment, _ *v1alpha1.CatalogSelection, r *record.Record) {
			r.URLs = append(r.URLs, r.URLs...)
		}},
		{"another URL", func(e *environment, _ *v1alpha1.CatalogSelection, r *record.Record) {
			r.URLs = []string{e.source(applications(e.T, "argocd")).URL}
		}},
		{"an invalid URL", func(_ *environment, _ *v1alpha1.CatalogSelection, r *record.Record) {
			r.URLs = []string{"file:///etc/passwd"}
		}},
		{"no sources in the status", func(_ *environment, cs *v1alpha1.CatalogSelection, _ *record.Record) { cs.Status.Sources = nil }},
		{"more sources in the status", func(_ *environment, cs *v1alpha1.CatalogSelection, _ *record.Record) {
			cs.Status.Sources = append(cs.Status.Sources, cs.Status.Sources...)
		}},
		{"no sources in the spec", func(_ *environment, _ *v1alpha1.CatalogSelection, r *record.Record) { r.Spec.Sources = nil }},
		{"more sources in the spec", func(_ *environment, _ *v1alpha1.CatalogSelection, r *record.Record) {
			r.Spec.Sources = append(r.Spec.Sources, r.Spec.Sources...)
		}},
		{"a climbing path", func(_ *environment, _ *v1alpha1.CatalogSelection, r *record.Record) {
			r.Spec.Sources[0].Path = "../.."
		}},
		{"a spec that renders something else", func(_ *environment, _ *v1alpha1.CatalogSelection, r *record.Record) {
			r.Spec.Exclude = []string{"nginx"}
		}},
		{"a spec that renders nothing", func(_ *environment, _ *v1alpha1.CatalogSelection, r *record.Record) {
			r.Spec.Exclude = []string{"nginx", "argocd"}
		}},
		{"a spec that is not valid", func(_ *environment, _ *v1alpha1.CatalogSelection, r *record.Record) {
			r.Spec.Limit = &v1alpha1.Limit{Expression: "(("}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishGuarded(t, "argocd nginx")
			cs := e.get("kkp")
			r, err := record.Read(cs)
			if err != nil {
				t.Fatal(err)
			}
			test.forge(e, cs, r)
			if cs.Status.WrittenRecord, err = r.Pack(); err != nil {
				t.Fatal(err)
			}
			if err := apiServer.Status().Update(t.Context(), cs); err != nil {
				t.Fatal(err)
			}
			e.source(applications(t, "argocd"))
			e.emptyStorage()
			e.restart()
			e.lostHold(good.announced, "Removal")
		})
	}
}

func TestARebuildReadsNoForbiddenNamespace(t *testing.T) {
	e, good := publishGuarded(t, "argocd nginx")
	cs := e.get("kkp")
	cs.Status.Sources[0].Namespace = "elsewhere"
	if err := apiServer.Status().Update(t.Context(), cs); err != nil {
		t.Fatal(err)
	}
	e.source(applications(t, "argocd"))
	e.emptyStorage()
	e.restart()
	e.reconciler.sources.NoCrossNamespaceRefs = true
	e.lostHold(good.announced, "Removal")
}

func TestALostArchiveWithoutARecordIsReported(t *testing.T) {
	e, good := publishGuarded(t, "argocd nginx")
	e.forge(nil)
	e.source(applications(t, "argocd nginx falco"))
	e.emptyStorage()
	e.restart()
	e.lostHold(good.announced, "BaselineLost")
	e.approve(e.get("kkp").Status.Held.Approve...)
	e.good()
}

// A recorded source is read from the API server first: until then, its registry is not known.
func TestALostArchiveIsRebuiltFromTheRegistry(t *testing.T) {
	e, front := newEnvironment(t), newFront(t)
	readme := registry.NewBlob("text/markdown", []byte("# Read me\n"))
	pull := func(words string) {
		e.pushed(e.repositoryAt(front.host()), shaped(readme, catalogLayer(applications(t, words)))) // Flux has selected the README
	}
	pull("argocd nginx")
	e.selectByManifest(guarded)
	good := e.good()
	pull("argocd")
	e.hold(good, "Removal")
	e.emptyStorage()
	e.restart()
	e.hold(good, "Removal")
	e.untouched(good)
}
