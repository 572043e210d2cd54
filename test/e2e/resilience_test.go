// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

func keyOf(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }

func TestSourceDeletedAndRecreated(t *testing.T) {
	s := newScenario(t, "gone", catalogOf("gone"), nil)
	s.awaitApplied("gone-a", "gone-b", "gone-c")
	_, ea, _, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	s.remove(s.repository())
	s.awaitSelection("source not ready", func(cs *v1alpha1.CatalogSelection) error {
		if conditions.GetReason(cs, meta.ReadyCondition) != v1alpha1.SourceNotReadyReason || !conditions.IsReconciling(cs) {
			return errors.New("still content")
		}
		return nil
	})
	s.assertServed(ea)

	s.create(s.repository())
	s.awaitApplied("gone-a", "gone-b", "gone-c")
	s.assertServed(ea)
}

func TestSuspendAndResume(t *testing.T) {
	s := newScenario(t, "pause", catalogOf("pause"), publishAll)
	s.awaitApplied("pause-a", "pause-b", "pause-c")
	before, ea, _, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cs := s.selection.DeepCopy()
	s.update(cs, func() { cs.Spec.Suspend = true })
	s.push("v2", catalogOf("pause")[:2])
	s.point("v2")
	repository := s.repository()
	s.await("the new artifact", func(ctx context.Context) error {
		err := system.Client().Get(ctx, keyOf(repository), repository)
		if err != nil || repository.Status.Artifact.Revision == before.Status.Sources[0].Revision {
			return fmt.Errorf("not there: %w", err)
		}
		return nil
	})
	s.awaitControllerIdle()
	s.assertServed(ea)

	s.update(cs, func() { cs.Spec.Suspend = false })
	s.awaitApplied("pause-a", "pause-b")
}

func TestExternalArtifactIsRepairedAtOnce(t *testing.T) {
	s := newScenario(t, "drift", catalogOf("drift"), nil)
	s.awaitApplied("drift-a", "drift-b", "drift-c")
	_, ea, _, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := ea.Status.Artifact
	// The interval is an hour: only a watch can notice within the timeout of the test.
	repaired := func(ctx context.Context) error {
		_, now, _, err := s.live(ctx)
		if err != nil {
			return err
		}
		got := now.Status.Artifact
		if got == nil || got.Revision != want.Revision || got.Digest != want.Digest || got.URL != want.URL ||
			now.Spec.SourceRef == nil || now.Spec.SourceRef.Name != "drift" || !conditions.IsReady(now) {
			return fmt.Errorf("not repaired: %+v %+v", now.Spec, now.Status)
		}
		if served := s.download(ctx, got.URL); served != got.Digest {
			return fmt.Errorf("%s serves %s", got.URL, served)
		}
		return nil
	}
	t.Run("deleted", func(t *testing.T) {
		if err := system.Client().Delete(t.Context(), ea); err != nil {
			t.Fatal(err)
		}
		s.await("repaired", func(ctx context.Context) error {
			if _, now, _, err := s.live(ctx); err == nil && now.UID == ea.UID {
				return errors.New("still the deleted one")
			}
			return repaired(ctx)
		})
	})
	t.Run("spec edited", func(*testing.T) {
		s.update(ea, func() { ea.Spec.SourceRef.Name = "somebody-else" })
		s.await("repaired", repaired)
	})
	t.Run("status edited", func(t *testing.T) {
		if err := system.Client().Get(t.Context(), keyOf(ea), ea); err != nil {
			t.Fatal(err)
		}
		before := ea.DeepCopy()
		ea.Status.Artifact.URL = "http://127.0.0.1:1/evil.tar.gz"
		ea.Status.Artifact.Revision = "latest@sha256:0"
		if err := system.Client().Status().Patch(t.Context(), ea, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		s.await("repaired", repaired)
	})
}

// The controller does not watch its storage: until it reconciles the selection, which is suspended here, the download
// of the Kustomization fails, and its objects remain although it prunes.
func TestALostArchiveDeletesNothingAndComesBack(t *testing.T) {
	s := newScenario(t, "lost", catalogOf("lost"), publishAll)
	before := s.awaitApplied("lost-a", "lost-b", "lost-c")
	_, ea, _, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cs := s.selection.DeepCopy()
	s.update(cs, func() { cs.Spec.Suspend = true })
	s.awaitControllerIdle()
	if err := os.Remove(filepath.Join(system.controller.DataDir, ea.Status.Artifact.Path)); err != nil {
		t.Fatal(err)
	}
	s.requestReconciliation()
	s.await("the failed download", func(ctx context.Context) error {
		_, _, ks, err := s.live(ctx)
		if err != nil || ks.Status.LastHandledReconcileAt != ks.Annotations[meta.ReconcileRequestAnnotation] ||
			conditions.GetReason(ks, meta.ReadyCondition) != meta.ArtifactFailedReason {
			return fmt.Errorf("not tried: %w %+v", err, ks)
		}
		return nil
	})
	kept, err := s.definitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range before {
		if now := kept[name]; now.GetUID() != d.GetUID() {
			t.Errorf("%s was deleted", name)
		}
	}
	s.update(cs, func() { cs.Spec.Suspend = false })
	s.await("the archive", func(ctx context.Context) error {
		if got := s.download(ctx, ea.Status.Artifact.URL); got != ea.Status.Artifact.Digest {
			return fmt.Errorf("%s serves %s, want %s", ea.Status.Artifact.URL, got, ea.Status.Artifact.Digest)
		}
		return nil
	})
	s.requestReconciliation()
	s.awaitApplied("lost-a", "lost-b", "lost-c")
}

func TestRestartWithEmptyDataDirectoryRebuildsTheArtifact(t *testing.T) {
	s := newScenario(t, "restart", catalogOf("restart"), nil)
	s.awaitApplied("restart-a", "restart-b", "restart-c")
	before, _, ksBefore, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []struct {
		name string
		do   func() error
	}{
		{"stopped", func() error { return system.controller.Stop() }},
		{"killed", func() error { return system.controller.Kill() }},
	} {
		t.Run(end.name, func(t *testing.T) {
			if err := end.do(); err != nil {
				t.Fatal(err)
			}
			if err := system.restart(t.Context(), stack.ControllerOptions{}); err != nil {
				t.Fatal(err)
			}
			s.await("rebuilt", func(ctx context.Context) error {
				cs, ea, _, err := s.live(ctx)
				if err != nil {
					return err
				}
				a := ea.Status.Artifact
				if a.Revision != before.Status.Artifact.Revision || a.Digest != before.Status.Artifact.Digest || !conditions.IsReady(cs) {
					return fmt.Errorf("artifact is %v, want %v", a, before.Status.Artifact)
				}
				if file, err := os.Stat(filepath.Join(system.controller.DataDir, a.Path)); err != nil {
					return err
				} else if file.Size() != *a.Size {
					return fmt.Errorf("%d bytes, want %d", file.Size(), *a.Size)
				}
				if served := s.download(ctx, a.URL); served != a.Digest {
					return fmt.Errorf("%s serves %s", a.URL, served)
				}
				return nil
			})
		})
	}
	_, _, ks, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ks.Status.LastAppliedRevision != ksBefore.Status.LastAppliedRevision || !conditions.IsReady(ks) {
		t.Errorf("the Kustomization noticed: %+v", ks.Status)
	}
}

func TestDeletedSelectionLeavesNothingBehind(t *testing.T) {
	s := newScenario(t, "delete", catalogOf("delete"), nil)
	s.awaitApplied("delete-a", "delete-b", "delete-c")
	_, ea, _, err := s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.remove(s.selection.DeepCopy())
	s.awaitGone(t.Context(), ea)
	dir := filepath.Dir(filepath.Join(system.controller.DataDir, ea.Status.Artifact.Path))
	s.await("the archives are gone", func(context.Context) error {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is still there: %w", dir, err)
		}
		return nil
	})
	if applied, err := s.definitions(t.Context()); err != nil || len(applied) != 3 {
		t.Errorf("the cluster has %d definitions (%v), want 3: applying is the Kustomization's", len(applied), err)
	}
}

func TestForeignExternalArtifactIsNeverAdopted(t *testing.T) {
	s := newScenario(t, "foreign", catalogOf("foreign"), nil)
	s.awaitApplied("foreign-a", "foreign-b", "foreign-c")
	foreign := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: "foreign-too", Namespace: "foreign"}}
	s.create(foreign)
	other := &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: "foreign-too", Namespace: "foreign"}, Spec: *s.selection.Spec.DeepCopy()}
	s.create(other)
	t.Cleanup(func() { s.remove(other, foreign) })
	mine := &scenario{t: t, name: "foreign", selection: other}
	mine.awaitStalled(v1alpha1.NameConflictReason)
	now := &sourcev1.ExternalArtifact{}
	if err := system.Client().Get(t.Context(), keyOf(foreign), now); err != nil {
		t.Fatal(err)
	}
	if now.ResourceVersion != foreign.ResourceVersion {
		t.Errorf("the foreign ExternalArtifact was written: %+v", now)
	}

	s.remove(foreign.DeepCopy())
	mine.awaitSelection("the free name is taken", func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsReady(cs) {
			return errors.New("not ready")
		}
		return nil
	})
}

func TestCrossNamespaceReferenceIsRefused(t *testing.T) {
	s := newScenario(t, "cross", catalogOf("cross"), nil)
	s.awaitApplied("cross-a", "cross-b", "cross-c")
	s.create(namespace("cross-tenant"))
	other := &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: "cross", Namespace: "cross-tenant"}, Spec: *s.selection.Spec.DeepCopy()}
	other.Spec.Sources[0].Namespace = "cross"
	s.create(other)
	t.Cleanup(func() { s.remove(other) })
	tenant := &scenario{t: t, name: "cross-tenant", selection: other}
	tenant.awaitSelection("allowed by default", func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsReady(cs) {
			return errors.New("not ready")
		}
		return nil
	})

	if err := system.restart(t.Context(), stack.ControllerOptions{Args: []string{"--no-cross-namespace-refs"}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := system.restart(context.WithoutCancel(t.Context()), stack.ControllerOptions{}); err != nil {
			t.Error(err)
		}
	})
	tenant.awaitStalled(v1alpha1.AccessDeniedReason)
}

func TestMetricsAndHealthAreServed(t *testing.T) {
	s := newScenario(t, "metrics", catalogOf("metrics"), nil)
	s.awaitApplied("metrics-a", "metrics-b", "metrics-c")
	page, err := os.ReadFile("../../docs/controller.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (gauge|counter|histogram) \\|.*$").FindAllStringSubmatch(string(page), -1)
	if len(documented) < 20 {
		t.Fatalf("docs/controller.md has %d metrics", len(documented))
	}
	s.await("metrics", func(ctx context.Context) error {
		metrics, err := get(ctx, "http://"+system.controller.MetricsAddr+"/metrics")
		if err != nil {
			return err
		}
		for _, want := range []string{
			`gotk_reconcile_condition{kind="CatalogSelection",name="metrics",namespace="metrics",status="True",type="Ready"} 1`,
			`gotk_reconcile_condition{kind="CatalogSelection",name="metrics",namespace="metrics",status="True",type="Applied"} 1`,
			`gotk_reconcile_condition{kind="CatalogSelection",name="metrics",namespace="metrics",status="True",type="Held"} 0`,
			`gotk_reconcile_duration_seconds_count{kind="CatalogSelection",name="metrics",namespace="metrics"}`,
			`gotk_suspend_status{kind="CatalogSelection",name="metrics",namespace="metrics"} 0`,
		} {
			if !strings.Contains(metrics, want) {
				return fmt.Errorf("no %s", want)
			}
		}
		for _, row := range documented {
			occasional := strings.Contains(row[0], "; absent while")
			if !occasional && !strings.Contains(metrics, "# TYPE "+row[1]+" "+row[2]+"\n") {
				return fmt.Errorf("no metric %s of the type %s", row[1], row[2])
			}
		}
		return nil
	})
	for _, path := range []string{"/healthz", "/readyz"} {
		if _, err := get(t.Context(), "http://"+system.controller.HealthAddr+path); err != nil {
			t.Error(err)
		}
	}
}
