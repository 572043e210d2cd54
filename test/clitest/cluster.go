// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
)

// startCluster returns the address of an API server with two selections.
func startCluster(t *testing.T) string {
	t.Helper()
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, twoSelections)
	}))
	t.Cleanup(cluster.Close)
	return cluster.URL
}

// ClusterConfig returns the kubeconfig of an API server with two selections.
func ClusterConfig(t *testing.T) string {
	t.Helper()
	return Kubeconfig(t, startCluster(t))
}

// Kubeconfig writes a kubeconfig for a server, and returns its name.
func Kubeconfig(t *testing.T, server string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	WriteFile(t, file, fmt.Sprintf("clusters:\n- name: c\n  cluster: {server: '%s'}\n"+
		"contexts:\n- name: c\n  context: {cluster: c}\ncurrent-context: c\n", server))
	return file
}

// twoSelections is the answer of an API server to every request.
const twoSelections = `{"apiVersion": "catalog.winnow.dev/v1alpha1", "kind": "CatalogSelectionList", "metadata": {"resourceVersion": "1"}, "items": [
{"apiVersion": "catalog.winnow.dev/v1alpha1", "kind": "CatalogSelection", "metadata": {"namespace": "flux-system", "name": "healthy"},
"status": {"sourceRevision": "v1.0.0", "instances": [
{"name": "db", "application": "postgres", "backend": "Helm", "object": "HelmRelease flux-system/db", "version": "1.0.0", "ready": "True", "message": "installed",
"lastAppliedRevision": "1.0.0", "pendingPlan": "plan", "outputs": {"secretName": "db", "available": ["host"]}},
{"name": "web", "application": "nginx", "backend": "Helm", "object": "HelmRelease flux-system/web", "ready": "False", "message": "Helm install failed for release web/web with chart nginx@2.0.0: no such host"}],
"conditions": [{"type": "Ready", "status": "True", "reason": "Succeeded", "message": "published"},
{"type": "SourceReady", "status": "True"}, {"type": "Held", "status": "False"}, {"type": "Applied", "status": "True"}]}},
{"apiVersion": "catalog.winnow.dev/v1alpha1", "kind": "CatalogSelection", "metadata": {"namespace": "flux-system", "name": "outage"},
"status": {"sourceRevision": "v1.0.0", "conditions": [{"type": "Ready", "status": "True", "reason": "Succeeded", "message": "published; a source fails, see SourceReady"},
{"type": "SourceReady", "status": "False", "reason": "FetchFailed", "message": "no such host"},
{"type": "Held", "status": "True", "reason": "Removal", "message": "loki: would be removed"}, {"type": "Applied", "status": "True"}]}}]}`
