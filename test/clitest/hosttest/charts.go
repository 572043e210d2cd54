// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/test/clitest"
)

// ChartCatalog writes a catalog with one chart of a repository.
func ChartCatalog(t *testing.T, repository, version string) string {
	t.Helper()
	directory := t.TempDir()
	below := filepath.Join(directory, "applications", "web")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, filepath.Join(below, "application.yaml"), fmt.Sprintf(`apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: web}
spec:
  method: helm
  versions:
  - {version: %s, template: {source: {helm: {url: %q, chartName: web, chartVersion: %s}}}}
`, version, repository, version))
	return directory
}

// WebChart returns the archive of a chart.
func WebChart(t *testing.T) []byte {
	t.Helper()
	packed, err := fetching.Pack(t.Context(), "web", fstest.MapFS{
		"Chart.yaml":          {Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n")},
		"templates/pods.yaml": {Data: []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: quay.io/org/web}]}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// ChartIndex returns an index.yaml with both versions of the chart at one address.
func ChartIndex(address string) string {
	return fmt.Sprintf("apiVersion: v1\nentries:\n  web:\n  - {version: 0.9.0, urls: [%q]}\n  - {version: 1.0.0, urls: [%q]}\n", address, address)
}
