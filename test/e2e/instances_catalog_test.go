// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/test/sourcetest"
	"github.com/winnow-dev/winnow/test/stack"
)

// packaged is an application of KKP, each version of which is a chart of the same version.
type packaged struct {
	name     string
	versions []string
	fields   string // YAML of more fields of the spec
	metadata string // the metadata.yaml; by default none
	labels   string // YAML in flow style of the definition's labels
	url      string // of the repository of its charts; by default that of the local registry
}

// definition returns the document of the application.
func (p packaged) definition(charts string) string {
	url, plainHTTP := p.url, false
	if url == "" {
		url, plainHTTP = charts, true
	}
	var doc strings.Builder
	fmt.Fprintf(&doc, "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: %s\n  labels: {%s}\n", p.name, p.labels)
	fmt.Fprintf(&doc, "spec:\n  method: helm\n  description: installs a ConfigMap\n%s  versions:\n", p.fields)
	for _, version := range p.versions {
		fmt.Fprintf(&doc, "  - version: %s\n    template: {source: {helm: {url: %q, chartName: %s, chartVersion: %s, plainHTTP: %t}}}\n",
			version, url, p.name, version, plainHTTP)
	}
	return doc.String()
}

// chartTemplate is a ConfigMap with the version of the chart and all values.
const chartTemplate = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  version: %q
  values: {{ toJson .Values | quote }}
`

// brokenTemplate is an object that no API server accepts.
const brokenTemplate = `apiVersion: v1
kind: ConfigMap
metadata:
  name: Not_A_Name
`

// chartFiles returns the files of a chart, as alternating paths and contents.
func chartFiles(name, version, values string) []string {
	return []string{
		"Chart.yaml", fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version),
		"values.yaml", values,
		"templates/result.yaml", fmt.Sprintf(chartTemplate, version),
	}
}

// pushChart pushes a chart to the repository of a test, with more files.
func pushChart(t *testing.T, repository string, files []string) {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		write(t, filepath.Join(dir, files[i]), files[i+1])
	}
	if _, err := system.PushChart(t.Context(), dir, repository); err != nil {
		t.Fatal(err)
	}
}

// serveChart serves a Helm repository with one chart, and returns its URL.
func serveChart(t *testing.T, name, version string) string {
	t.Helper()
	files := chartFiles(name, version, "")
	for i := 0; i < len(files); i += 2 {
		files[i] = name + "/" + files[i]
	}
	server := sourcetest.NewServer(t)
	for path, content := range map[string][]byte{
		"/chart.tgz": sourcetest.Archive(t, files...),
		"/index.yaml": fmt.Appendf(nil, "apiVersion: v1\nentries:\n  %s:\n  - {apiVersion: v2, name: %[1]s, version: %s, urls: [chart.tgz]}\n",
			name, version),
	} {
		server.Handle(path, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(content)
		})
	}
	return server.URL
}

// platformDefinition is one of Cozystack, whose chart is in an OCIRepository of another namespace.
const platformDefinition = `apiVersion: cozystack.io/v1alpha1
kind: ApplicationDefinition
metadata:
  name: cache
spec:
  application:
    kind: Cache
    singular: cache
    plural: caches
    openAPISchema: |-
      {"type":"object","properties":{"memory":{"type":"string"},"replicas":{"type":"integer"}}}
  release:
    prefix: cache-
    labels: {example.com/platform: applications}
    chartRef: {kind: OCIRepository, name: platform-cache, namespace: %s}
`

// chartRepository returns an OCIRepository of a chart in the local registry.
func chartRepository(namespace, name, chart, version string) string {
	return fmt.Sprintf(`---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: %s, namespace: %s}
spec:
  interval: 1h
  url: oci://%s/%s
  insecure: true
  ref: {tag: %s}
  layerSelector: {mediaType: %s, operation: copy}
`, name, namespace, system.RegistryHost(), chart, version, stack.ChartLayerMediaType)
}
