// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestANamespaceThatAcceptsNoExternalArtifact(t *testing.T) {
	quota := func(e *environment) {
		const artifacts = "count/externalartifacts.source.toolkit.fluxcd.io"
		q := &corev1.ResourceQuota{}
		q.Name, q.Namespace = "tenant", e.namespace
		q.Spec.Hard = corev1.ResourceList{artifacts: resource.MustParse("0")}
		if err := apiServer.Create(e.Context(), q); err != nil {
			e.Fatal(err)
		}
		// kube-controller-manager writes that.
		q.Status.Hard, q.Status.Used = q.Spec.Hard, corev1.ResourceList{artifacts: resource.MustParse("0")}
		if err := apiServer.Status().Update(e.Context(), q); err != nil {
			e.Fatal(err)
		}
	}
	terminating := func(e *environment) {
		namespace := &corev1.Namespace{}
		namespace.Name = e.namespace
		e.remove(namespace)
	}
	for _, test := range []struct {
		name    string
		cause   func(e *environment)
		reason  string
		message string
	}{
		{"because of a quota", quota, "QuotaExceeded", "does not allow the ExternalArtifact: raise the quota, or delete what nothing needs"},
		{"because it is being deleted", terminating, "NamespaceTerminating", "is being deleted and accepts no new object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			e.selection("kkp")
			test.cause(e)
			e.awaitRefusal()
			if _, err := e.tryReconcile("kkp"); err == nil {
				t.Error("the refusal is not tried again with backoff")
			}
			cs := e.get("kkp")
			e.equal("conditions", conditionsOf(cs), retried(test.reason))
			if message := conditions.GetMessage(cs, meta.ReadyCondition); !strings.HasPrefix(message, "the namespace "+e.namespace+" ") &&
				!strings.HasPrefix(message, "a ResourceQuota of the namespace "+e.namespace+" ") || !strings.Contains(message, test.message) {
				t.Errorf("the message is %q", message)
			}
		})
	}
}

// awaitRefusal waits until the admission of the API server knows the cause, which it reads from caches.
func (e *environment) awaitRefusal() {
	e.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		probe := &sourcev1.ExternalArtifact{}
		probe.Name, probe.Namespace = "probe", e.namespace
		err := apiServer.Create(e.Context(), probe, client.DryRunAll)
		switch {
		case apierrors.IsForbidden(err):
			return
		case err != nil:
			e.Fatal(err)
		case time.Now().After(deadline):
			e.Fatal("the API server accepts an ExternalArtifact")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
