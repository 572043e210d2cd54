// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// serve returns a kubeconfig of an API server that answers with the content of paths, and with status 500 for an empty one.
func serve(t *testing.T, paths map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, found := paths[r.URL.Path]
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !found:
			w.WriteHeader(http.StatusNotFound)
		case content == "":
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = w.Write([]byte(content))
	}))
	t.Cleanup(server.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content := "clusters: [{name: a, cluster: {server: '" + server.URL + "'}}]\ncontexts: [{name: a, context: {cluster: a}}]\ncurrent-context: a\n"
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

func TestLeftoversOfAPartOfACluster(t *testing.T) {
	const definitions, kustomizations = "/apis/apps.kubermatic.k8c.io/v1", "/apis/kustomize.toolkit.fluxcd.io/v1"
	kinds := func(plural, kind string) string {
		return `{"resources": [{"name": "` + plural + `", "kind": "` + kind + `", "verbs": ["list"]}]}`
	}
	applied := func(spec string) string {
		return `{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "KustomizationList", "items": [{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"namespace": "a", "name": "b"}, "spec": {` + spec + `},
			"status": {"inventory": {"entries": [{"id": "_loki_apps.kubermatic.k8c.io_ApplicationDefinition", "v": "v1"}]}}}]}`
	}
	const loki = `{"apiVersion": "apps.kubermatic.k8c.io/v1", "kind": "ApplicationDefinitionList", "items": [{"apiVersion": "apps.kubermatic.k8c.io/v1", "kind": "ApplicationDefinition", "metadata": {"name": "loki", "labels": {"app.kubernetes.io/managed-by": "winnow"}}}]}`
	for _, test := range []struct {
		name, kustomizations, definitions string
		want                              string
	}{
		{"a definition of this cluster", applied(""), loki, "leftovers   ok       no definition is left behind"},
		{"a definition that the same name in another cluster hides", applied(`"kubeConfig": {"secretRef": {"name": "spoke"}}`), loki,
			"leftovers   problem  left an artifact and live on: loki: nothing updates them; delete by hand what nobody needs"},
		{"a kind that the API server cannot list", applied(""), "", "leftovers   unknown  reading the live ApplicationDefinition objects: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			kubeconfig := serve(t, map[string]string{
				"/version": `{"gitVersion": "v1.36.4"}`, definitions: kinds("applicationdefinitions", "ApplicationDefinition"), definitions + "/applicationdefinitions": test.definitions,
				kustomizations: kinds("kustomizations", "Kustomization"), kustomizations + "/kustomizations": test.kustomizations,
			})
			var out strings.Builder
			cmd := New("dev")
			cmd.SetOut(&out)
			cmd.SetArgs([]string{"--kubeconfig", kubeconfig})
			cmd.SilenceUsage, cmd.SilenceErrors = true, true
			err := cmd.ExecuteContext(t.Context())
			if finding := new(output.FindingError); !errors.As(err, &finding) { // there is no controller
				t.Errorf("the error is %v", err)
			}
			if !strings.Contains(out.String(), test.want) || !strings.Contains(out.String(), "kubernetes  ok       Kubernetes v1.36.4") {
				t.Errorf("got\n%s", out.String())
			}
		})
	}
}
