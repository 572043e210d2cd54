// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/clitest"
)

// The block for charts on a web server has nothing to do in the guide's example.
func TestAirGapGuideCopiesChartsToAWebServer(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skipf("the guide needs jq: %v", err)
	}
	g := newGuide(t)
	clitest.WriteFile(t, filepath.Join(g.dir, "references.json"), `{"charts": [
		{"type": "helm", "from": "https://a.example/x", "to": "https://charts.internal/x", "name": "web", "version": "1.0.0"},
		{"type": "helm", "from": "https://a.example/y", "to": "oci://registry.internal/y", "name": "web", "version": "1.0.0"},
		{"type": "helm", "from": "oci://a.example/w", "to": "https://charts.internal/w", "name": "web", "version": "1.0.0"},
		{"type": "helm", "from": "https://a.example/z", "to": "https://a.example/z", "name": "web", "version": "1.0.0"}]}`)
	for _, block := range codeBlock.FindAllStringSubmatch(clitest.ReadFile(t, airGapGuide), -1) {
		if strings.Contains(block[2], "helm repo index") {
			g.run(t, block[2])
		}
	}
	const want = "helm pull web --repo https://a.example/x --version 1.0.0 --destination site/charts.internal/x\nhelm repo index site/charts.internal/x\n" +
		"helm pull oci://a.example/w/web --version 1.0.0 --destination site/charts.internal/w\nhelm repo index site/charts.internal/w\n"
	if got := clitest.ReadFile(t, g.log); got != want {
		t.Errorf("called were\n%s\nwant\n%s", got, want)
	}
}

// checkCharts pulls the charts by the addresses of the rendered definitions, as KKP does: the URL, a slash
// and the name of the chart, with the version as the tag.
func (g guide) checkCharts(t *testing.T) {
	t.Helper()
	for name, archive := range map[string]string{"argocd": "charts/1/argo-cd-8.5.0.tgz", "cert-manager": ""} {
		var definition struct {
			Spec struct {
				Versions []struct {
					Template struct {
						Source struct {
							Helm struct {
								URL, ChartName, ChartVersion string
								Credentials                  v1alpha1.HelmCredentials
							}
						}
					}
				}
			}
		}
		rendered, err := filepath.Glob(filepath.Join(g.dir, "rendered", "*", name+".yaml"))
		if err != nil || len(rendered) != 1 {
			t.Fatalf("%s is rendered as %q, %v", name, rendered, err)
		}
		if err := yaml.Unmarshal([]byte(clitest.ReadFile(t, rendered[0])), &definition); err != nil || len(definition.Spec.Versions) != 1 {
			t.Fatalf("%s: %+v, %v", name, definition, err)
		}
		helm := definition.Spec.Versions[0].Template.Source.Helm
		at, ok := strings.CutPrefix(helm.URL, "oci://registry.internal/")
		if file := helm.Credentials.RegistryConfigFile; !ok || file == nil || file.Name != "registry-internal" {
			t.Fatalf("%s comes from %+v", name, helm)
		}
		pulled := chartContent(t, "registry.internal/"+at+"/"+helm.ChartName+":"+helm.ChartVersion)
		if archive != "" && pulled != clitest.ReadFile(t, filepath.Join(g.dir, archive)) {
			t.Errorf("the chart of %s is another one", name)
		}
	}
}

// chartContent returns the only layer of a manifest.
func chartContent(t *testing.T, reference string) string {
	t.Helper()
	repository, tag, err := orasTarget(reference, false)
	if err != nil {
		t.Fatal(err)
	}
	var manifest v1.Manifest
	_, raw, err := oras.FetchBytes(t.Context(), repository, tag, oras.DefaultFetchBytesOptions)
	if err == nil {
		err = json.Unmarshal(raw, &manifest)
	}
	if err != nil || len(manifest.Layers) != 1 {
		t.Fatalf("pulling %s: %v, layers %v", reference, err, manifest.Layers)
	}
	layer, err := content.FetchAll(t.Context(), repository, manifest.Layers[0])
	if err != nil {
		t.Fatalf("pulling %s: %v", reference, err)
	}
	return string(layer)
}

// hosts serves a registry for each first element of the names of repositories, so that nothing is in one
// of them that was copied into another one only.
type hosts struct {
	mu   sync.Mutex
	each map[string]http.Handler
}

// startHosts lets orasTarget use the registries.
func startHosts(t *testing.T) *hosts {
	t.Helper()
	h := &hosts{each: map[string]http.Handler{}}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
	return h
}

func (h *hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Host != "" { // as a proxy, for the addresses of charts
		r.URL.Path = "/v2/" + r.URL.Host + strings.TrimPrefix(r.URL.Path, "/v2")
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"), "/")
	h.mu.Lock()
	if h.each[name] == nil {
		h.each[name] = registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true))
	}
	host := h.each[name]
	h.mu.Unlock()
	host.ServeHTTP(w, r)
}

// empty removes the content of a registry.
func (h *hosts) empty(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.each, name)
}
