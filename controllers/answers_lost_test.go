// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// landing lets writes succeed, and loses the answers for which it returns true.
type landing struct{ loses func(write string) bool }

func (l landing) through(sender client.Client) client.Client {
	answer := func(write string, err error) error {
		if err == nil && l.loses(write) {
			return apierrors.NewTimeoutError("the answer is lost", 1)
		}
		return err
	}
	return interceptor.NewClient(sender.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.CreateOption) error {
			return answer("create "+kindOf(object), c.Create(ctx, object, opts...))
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return answer("patch "+kindOf(object), c.Patch(ctx, object, patch, opts...))
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			return answer("patch "+kindOf(object)+"/"+sub, c.SubResource(sub).Patch(ctx, object, patch, opts...))
		},
	})
}

// The API server has stored a write, and its answer is lost. Each revision is announced once, in order, and an approval
// releases once.
func TestAWriteWhoseAnswerIsLost(t *testing.T) {
	for _, write := range []string{"create ExternalArtifact", "patch ExternalArtifact/status", "patch CatalogSelection/status"} {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restart %t", write, restarts), func(t *testing.T) {
				e := newEnvironment(t)
				answers := 0
				lossy := func(o *Options) {
					o.Client = landing{func(w string) bool { answers++; return w == write && answers%2 == 1 }}.through(o.Client)
				}
				e.restartWith(lossy)
				settle := func() {
					for range 6 {
						_, _ = e.tryReconcile("kkp")
						if restarts {
							e.restartWith(lossy)
						}
					}
				}
				e.source(applications(t, "argocd nginx"))
				e.selection("kkp", guarded)
				settle()
				first := e.get("kkp").Status.Artifact.Revision
				less := applications(t, "argocd")
				e.approve("nginx")
				e.source(less)
				settle()
				second := e.get("kkp").Status.Artifact.Revision
				e.source(applications(t, "argocd nginx"))
				settle()
				e.source(less)
				settle()
				e.equal("lost when the approval is used up", lost(e.get("kkp")), []string{"Removal nginx 1.0.0"})
				e.equal("revisions", e.traffic.revisions, []string{first, second, first})
				e.equal("announced", e.announced("kkp").Status.Artifact.Revision, first)
			})
		}
	}
}

// Crashes before the status is written leave archives that no status names. They are collected.
func TestArchivesOfCrashesAreCollected(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	e.publish("kkp")
	e.storage.ArtifactRetentionTTL = 1
	for i := range 6 {
		e.source(applications(t, fmt.Sprintf("argocd nginx%d", i)))
		e.traffic.before = crashAt("patch CatalogSelection/status")
		if _, err := e.tryReconcile("kkp"); !errors.Is(err, errDead) {
			t.Errorf("Reconcile() = %v", err)
		}
		e.traffic.before = nil
		e.restart()
	}
	e.age() // their retention is over
	e.source(applications(t, "argocd falco"))
	e.publish("kkp")
	e.reconcile("kkp")
	e.restart()
	e.publish("kkp")
	var left []string
	for _, file := range e.archiveFiles() {
		if strings.HasSuffix(file, ".staged") {
			left = append(left, filepath.Base(file))
		}
	}
	if len(left) > 2 {
		t.Errorf("%d archives of crashes are left", len(left))
	}
}

// An archive of a crash, for a revision that a restored status names, replaces nothing that is served.
func TestAnArchiveOfACrashReplacesNothing(t *testing.T) {
	e, first := publishGuarded(t, "argocd")
	e.source(applications(t, "argocd nginx"))
	e.good()
	e.source(applications(t, "argocd"))
	e.approve("nginx")
	e.traffic.before = crashAt("patch CatalogSelection/status")
	_, _ = e.tryReconcile("kkp")
	e.traffic.before = nil
	staged := slices.ContainsFunc(e.archiveFiles(), func(file string) bool { return strings.HasSuffix(file, ".staged") })
	e.equal("an archive of the crash", staged, true)
	e.restart()
	cs, _ := e.publish("kkp")
	e.equal("revision", cs.Status.Artifact.Revision, first.cs.Status.Artifact.Revision)
}

// A selection is deleted and created again while the status of the former one is written: nothing of it is announced.
func TestASelectionThatIsReplacedDuringItsPublication(t *testing.T) {
	e, first := publishGuarded(t, "argocd nginx")
	e.source(applications(t, "argocd"))
	e.approve("nginx")
	done := false
	e.traffic.before = func(write string, _ client.Object) error {
		if write != "patch CatalogSelection/status" || done {
			return nil
		}
		done = true
		old := e.get("kkp")
		e.remove(old)
		again := &v1alpha1.CatalogSelection{}
		again.Name, again.Namespace, again.Spec = old.Name, old.Namespace, old.Spec
		return apiServer.Create(e.Context(), again)
	}
	_, _ = e.tryReconcile("kkp")
	e.traffic.before = nil
	e.equal("the ExternalArtifact", essence(e.announced("kkp")), essence(first.announced))
	_, _ = e.tryReconcile("kkp")
	e.equal("lost", lost(e.get("kkp")), []string{"Removal nginx 1.0.0"})
}
