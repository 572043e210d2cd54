// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/winnow-dev/winnow/test/stack"
)

// fourInstances selects three applications of KKP and one of Cozystack.
const fourInstances = `apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: instances, namespace: instances}
spec:
  interval: 1h
  definitions: Omit
  sources:
  - name: instances
  - {name: instances-platform, format: Definitions}
  values:
  - names: [web]
    instanceOverrides: {d: override}
  instances:
    authorities:
      application: trust
      namespace: security
      valuesFrom: [{kind: Secret, name: authorities}]
    web:
      version: "~1.4"
      dependsOn: ["@system"]
      valuesFrom:
      - {kind: Secret, name: web}
      - {kind: Secret, name: web, valuesKey: password, targetPath: login.password, literal: true}
      - {kind: Secret, name: web, valuesKey: port, targetPath: "ports[1]"}
      values:
        c: values
        d: values
        tree: {left: null}
        dropped: null
        nested: {drop: null}
    handbook:
      version: 1.0.0
      values: {title: base}
    store:
      application: cache
      backend: Helm
      namespace: data
      createNamespace: true
      values: {memory: 1Gi}
`

const webDefaults = `  defaultNamespace: {name: frontend, create: true}
  defaultValuesBlock: |
    a: default
    b: default
    c: default
    d: default
    list: [default, default]
    tree: {left: default, right: default}
    login: {user: default, password: default}
    ports: [80, 443]
`

const webChartValues = `a: chart
only: chart
dropped: chart
nested: {keep: chart, drop: chart}
`

// Secrets of the instances. The password has what means something to Helm's --set.
const (
	webSecret = `---
apiVersion: v1
kind: Secret
metadata: {name: web, namespace: instances}
stringData:
  values.yaml: |
    b: secret
    c: secret
    d: secret
    list: [secret]
  password: "a,b={c}.d"
  port: "8443"
`
	authoritiesSecret = `---
apiVersion: v1
kind: Secret
metadata: {name: authorities, namespace: instances}
stringData: {values.yaml: "acme: certificate"}
`
	// What Cozystack has in the namespace of every tenant, and its charts read.
	platformSecret = `---
apiVersion: v1
kind: Secret
metadata: {name: cozystack-values, namespace: instances}
stringData: {values.yaml: "_cluster: {root-host: example.com}"}
`
)

// webWith returns the application web with these versions.
func webWith(versions ...string) packaged {
	return packaged{name: "web", versions: versions, fields: webDefaults}
}

// prepareInstances pushes catalogs and charts, and creates the sources.
func prepareInstances(t *testing.T) (i *installing, others []packaged) {
	t.Helper()
	i = newInstalling(t, "instances")
	for _, version := range []string{"1.4.0", "1.4.2", "1.4.3", "1.4.4", "2.0.0"} {
		pushChart(t, "instances-charts", chartFiles("web", version, webChartValues))
	}
	pushChart(t, "instances-charts", chartFiles("trust", "1.0.0", ""))
	pushChart(t, "instances-charts", chartFiles("cache", "0.1.0", "replicas: 2\n"))
	others = []packaged{
		{name: "trust", versions: []string{"1.0.0"}, labels: "apps.kubermatic.k8c.io/type: security", fields: "  defaultVersion: 1.0.0\n"},
		{name: "handbook", versions: []string{"1.0.0"}, url: serveChart(t, "handbook", "1.0.0")},
	}
	i.offer("v1", append(others, webWith("1.4.0", "1.4.2"))...)
	i.create(i.repository())
	platform := t.TempDir()
	write(t, filepath.Join(platform, "cache.yaml"), fmt.Sprintf(platformDefinition, "platform-charts"))
	if _, err := system.PushCatalog(t.Context(), platform, "instances-platform:v1", stack.PushOptions{Shape: stack.FluxArtifact}); err != nil {
		t.Fatal(err)
	}
	source := i.repository()
	source.Name, source.Spec.URL, source.Spec.LayerSelector = "instances-platform", source.Spec.URL+"-platform", nil
	i.create(source)
	i.create(namespace("platform-charts"))
	i.commit([]string{webSecret, platformSecret, chartRepository("platform-charts", "platform-cache", "instances-charts/cache", "0.1.0")})
	i.commitBase(fourInstances)
	return i, others
}
