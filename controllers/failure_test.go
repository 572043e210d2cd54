// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
)

var errUnavailable = errors.New("the API server is not available")

// failing makes the named write fail.
func failing(name string) func(string, client.Object) error {
	return func(write string, _ client.Object) error {
		if write == name {
			return apierrors.NewInternalError(errUnavailable)
		}
		return nil
	}
}

func TestAWriteThatFailsIsRepeated(t *testing.T) {
	for _, test := range []struct {
		name, write string
		want        []string
		announced   bool
	}{
		{"writing the status", "patch CatalogSelection/status", nil, false},
		{"creating the ExternalArtifact", "create ExternalArtifact", retried("StorageFailed"), false},
		{"writing the status of the ExternalArtifact", "patch ExternalArtifact/status", retried("StorageFailed"), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			e.selection("kkp")
			e.traffic.before = failing(test.write)
			if _, err := e.tryReconcile("kkp"); !apierrors.IsInternalError(err) {
				t.Errorf("Reconcile() = %v", err)
			}
			e.equal("conditions", conditionsOf(e.get("kkp")), test.want)
			if announced := e.announced("kkp"); (announced != nil) != test.announced || announced != nil && announced.Status.Artifact != nil {
				t.Errorf("the ExternalArtifact is %v", announced)
			}
			e.traffic.before = nil
			e.publish("kkp")
		})
	}
}

func TestAWriteThatFailsLeavesTheLastGoodArtifact(t *testing.T) {
	for _, write := range []string{"patch CatalogSelection/status", "patch ExternalArtifact/status"} {
		t.Run(write, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			e.selection("kkp")
			_, announced := e.publish("kkp")
			served := e.download(announced)
			e.source(applications(t, "argocd nginx"))
			e.traffic.before = failing(write)
			if _, err := e.tryReconcile("kkp"); !apierrors.IsInternalError(err) {
				t.Errorf("Reconcile() = %v", err)
			}
			e.equal("the ExternalArtifact", e.announced("kkp"), announced)
			if !bytes.Equal(e.download(announced), served) {
				t.Error("the last good artifact is not served any more")
			}
			e.traffic.before = nil
			e.publish("kkp")
		})
	}
}

func TestAStorageThatCannotBeWrittenIsReported(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	obstacle := e.archiveDir("kkp")
	if err := os.MkdirAll(filepath.Dir(obstacle), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(obstacle, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cs := e.suffer(trouble{retry: backoff, message: []string{"making the directory"}}, retried("StorageFailed"))
	if cs.Status.Artifact != nil || e.announced("kkp") != nil {
		t.Error("something was published")
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	e.recover()
}

func TestAFileThatCannotBeWrittenLeavesTheLastGoodArtifact(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	cs := e.selection("kkp")
	_, announced := e.publish("kkp")
	content := applications(t, "argocd nginx")
	_, revision := preview(t, cs, content)
	_, checksum, _ := strings.Cut(revision, ":")
	obstacle := filepath.Join(e.archiveDir("kkp"), checksum+".tar.gz")
	if err := os.MkdirAll(filepath.Join(obstacle, "full"), 0o750); err != nil {
		t.Fatal(err)
	}
	e.source(content)
	for _, events := range [][]string{{"Warning StorageFailed CatalogSelection", "Warning StorageFailed ExternalArtifact"}, nil} {
		e.events.take()
		e.checkRetry(backoff)
		e.equal("conditions", conditionsOf(e.get("kkp")), retried("StorageFailed"))
		e.equal("events", e.events.take(), events)
	}
	e.equal("the ExternalArtifact", e.announced("kkp"), announced)
	if e.download(announced) == nil {
		t.Error("the last good artifact is not served any more")
	}
	if err := os.RemoveAll(obstacle); err != nil {
		t.Fatal(err)
	}
	e.publish("kkp")
}

func (e *environment) foreignArtifact(name string) *sourcev1.ExternalArtifact {
	e.Helper()
	foreign := &sourcev1.ExternalArtifact{}
	foreign.Name, foreign.Namespace = name, e.namespace
	if err := apiServer.Create(e.Context(), foreign); err != nil {
		e.Fatal(err)
	}
	return foreign
}

func TestAForeignExternalArtifactIsNeverTouched(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	foreign := e.foreignArtifact("kkp")
	cs := e.suffer(trouble{retry: never, message: []string{e.namespace + "/kkp", "another owner"}}, stalled("NameConflict"))
	if cs.Status.Artifact != nil || len(e.archiveFiles()) > 0 {
		t.Error("something was published")
	}
	e.equal("the foreign one", e.announced("kkp"), foreign)
	e.remove(foreign)
	e.recover()
}

func TestAForeignExternalArtifactInPlaceOfOursIsNeverTouched(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	cs, announced := e.publish("kkp")
	e.remove(announced)
	foreign := e.foreignArtifact("kkp")
	e.suffer(trouble{retry: never}, stalled("NameConflict"))
	e.source(applications(t, "argocd nginx"))
	e.equal("conditions", conditionsOf(e.reconcile("kkp")), stalled("NameConflict"))
	e.equal("the foreign one", e.announced("kkp"), foreign)
	e.equal("artifact", e.get("kkp").Status.Artifact, cs.Status.Artifact)
	e.remove(foreign)
	e.publish("kkp")
}

func TestASelectionMustNotBeItsOwnSource(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp", func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources = []v1alpha1.SourceReference{{Kind: "ExternalArtifact", Name: "kkp"}}
	})
	e.suffer(trouble{retry: never, message: []string{"spec.sources[0]"}}, stalled("InvalidSpec"))
	e.recover()
}

func TestMessagesAreBounded(t *testing.T) {
	e := newEnvironment(t)
	cs := e.selection("kkp")
	o := outcome{reason: v1alpha1.InvalidCatalogReason, message: strings.Repeat("x", bounds.ConditionMessage+1), stalled: true}
	o.report(cs)
	events{e.events, e.get("kkp"), cs}.published(o)
	e.equal("bytes of the condition", len(conditions.GetMessage(cs, meta.ReadyCondition)), bounds.ConditionMessage)
	e.equal("bytes of the event", len(e.events.message), bounds.EventMessage)
}
