// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
)

const (
	served = `{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "apps.kubermatic.k8c.io/v1", "resources": [
		{"name": "applicationdefinitions", "kind": "ApplicationDefinition", "namespaced": false, "verbs": ["get", "list"]}]}`
	definitions = `{"kind": "ApplicationDefinitionList", "apiVersion": "apps.kubermatic.k8c.io/v1", "metadata": {}, "items": [
		{"kind": "ApplicationDefinition", "apiVersion": "apps.kubermatic.k8c.io/v1", "metadata": {"name": "a", "labels": {
			"kustomize.toolkit.fluxcd.io/name": "old", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}},
			"spec": {"versions": [{"version": "0.1.0"}, {"version": "1.0.0"}]}},
		{"kind": "ApplicationDefinition", "apiVersion": "apps.kubermatic.k8c.io/v1", "metadata": {"name": "b", "labels": {
			"apps.k8c.io/application-bypass": ""}}, "spec": {"versions": [{"version": "0.1.0"}]}}]}`
)

// connect opens a cluster whose server maps paths to answers.
func connect(t *testing.T, answers map[string]string) *live.Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		answer, found := answers[req.URL.Path]
		if req.Method != http.MethodGet || !found {
			http.Error(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`, http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content := "clusters:\n- name: c\n  cluster: {server: '" + server.URL + "'}\n" +
		"contexts:\n- name: c\n  context: {cluster: c}\ncurrent-context: c\n"
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster, err := live.Open(kubeconfig, "")
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// sideOf renders a selection of everything over a catalog of applications with the version 1.0.0.
func sideOf(ctx context.Context, t *testing.T, names ...string) *comparing.Side {
	t.Helper()
	files := fstest.MapFS{}
	for _, name := range names {
		files["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(
			"apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: " + name +
				"\nspec:\n  versions:\n  - {version: 1.0.0, template: {source: {helm: {url: 'https://example.com', chartName: x, chartVersion: 1.0.0}}}}\n")}
	}
	loaded, err := render.LoadFS(ctx, "catalog", files, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "apps", "fleet"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	kind, name := guard.SourceKey(cs, cs.Spec.Sources[0])
	side, err := comparing.Render(ctx, cs, []guard.Source{{Kind: kind, Name: name, Checksum: "sha256:" + strings.Repeat("01", 32), Catalog: loaded}})
	if err != nil {
		t.Fatal(err)
	}
	return side
}

func TestWhatLivesIsAddedToAComparison(t *testing.T) {
	const group = "/apis/apps.kubermatic.k8c.io/v1"
	for _, test := range []struct {
		name    string
		observe comparing.Observer
		live    bool
		notes   []string
		held    string
		adopted int
		bypass  []string
	}{
		{name: "no cluster"},
		{name: "a cluster that does not serve the kind", observe: connect(t, nil).Observe, live: true},
		{
			name: "definitions of somebody else, of which one is bypassed", live: true,
			observe: connect(t, map[string]string{group: served, group + "/applicationdefinitions": definitions}).Observe,
			notes: []string{"1 live definition is applied by the Kustomization flux-system/old: unless this artifact becomes its source, " +
				"the selection waits (Conflict) until it has let go"},
			held: "0.1.0", adopted: 1, bypass: []string{"b"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.observe.Compare(t.Context(), nil, sideOf(t.Context(), t, "a", "b", "c"))
			if err != nil {
				t.Fatal(err)
			}
			if got.Live != test.live || !slices.Equal(got.Notes, test.notes) || got.Counts.Adopted != test.adopted || !slices.Equal(got.Bypassed, test.bypass) {
				t.Errorf("live %t, notes %q, %d adopted, bypassed %q", got.Live, got.Notes, got.Counts.Adopted, got.Bypassed)
			}
			var held string
			if got.Held != nil {
				held = got.Held.Reasons[0].Message
			}
			if (held != "") != (test.held != "") || !strings.Contains(held, test.held) {
				t.Errorf("held: %q, want %q", held, test.held)
			}
		})
	}
}

func TestAClusterThatAnswersWithNothingIsAnError(t *testing.T) {
	cluster := connect(t, map[string]string{"/apis/apps.kubermatic.k8c.io/v1": "nothing"})
	if _, err := comparing.Observer(cluster.Observe).Compare(t.Context(), nil, sideOf(t.Context(), t, "a")); err == nil || !strings.HasPrefix(err.Error(), "looking at the cluster: ") {
		t.Errorf("Compare() = %v", err)
	}
}
