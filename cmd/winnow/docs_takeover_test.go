// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

const takeoverGuide = "../../docs/guides/take-over-releases.md"

// indentedBlock matches the blocks of a page that are indented by four spaces.
var indentedBlock = regexp.MustCompile(`(?m)(?:^ {4}.*\n|^\n(?: {4}))+`)

// runningRelease is what kubectl get prints of a release that runs from the mirror of the guide.
const runningRelease = `
apiVersion: v1
kind: List
items:
- apiVersion: source.toolkit.fluxcd.io/v1
  kind: OCIRepository
  metadata: {name: ours, namespace: flux-system}
  spec:
    interval: 1h
    url: oci://registry.example.com/charts/dashboards
    ref: {tag: 1.4.0}
    layerSelector: {mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip, operation: copy}
- apiVersion: helm.toolkit.fluxcd.io/v2
  kind: HelmRelease
  metadata: {name: dashboards, namespace: flux-system}
  spec:
    interval: 1h
    chartRef: {kind: OCIRepository, name: ours}
    targetNamespace: dashboards
    values: {dashboards: [nodes, workloads], refresh: 30s}
`

// Whoever follows the guide with the selection that it shows gets instances of what runs.
func TestTakeOverGuideImports(t *testing.T) {
	var selection string
	for _, block := range indentedBlock.FindAllString(clitest.ReadFile(t, takeoverGuide), -1) {
		if strings.Contains(block, "kind: CatalogSelection") {
			selection = strings.ReplaceAll(block, "\n    ", "\n")
		}
	}
	if selection == "" {
		t.Fatal("the guide shows no selection")
	}
	dir := t.TempDir()
	file, live := filepath.Join(dir, "selection.yaml"), filepath.Join(dir, "live.yaml")
	clitest.WriteFile(t, file, strings.TrimPrefix(selection, "    "))
	clitest.WriteFile(t, live, runningRelease)
	imported := clitest.Execute(t.Context(), "import", live, "-f", file, "--source", "../../examples/plain-flux/catalog")
	if imported.Code != root.ExitOK || !strings.Contains(imported.Stdout, "  instances:\n    dashboards:\n") || !strings.Contains(imported.Stdout, "version: 1.4.0") {
		t.Errorf("%+v", imported)
	}
}
