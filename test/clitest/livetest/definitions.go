// SPDX-License-Identifier: Apache-2.0

package livetest

import "strings"

const liveDefinitions = `
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata:
  name: argocd
  labels: {kustomize.toolkit.fluxcd.io/name: old, kustomize.toolkit.fluxcd.io/namespace: flux-system}
spec:
  displayName: x
  description: x
  method: helm
  defaultVersion: 3.0.0
  defaultValuesBlock: |
    controller: {replicas: 5}
    dex: {enabled: false, secret: hunter2}
    notifications: {enabled: false}
  versions: [VERSIONS]
---
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata:
  name: loki
  labels: {apps.k8c.io/application-bypass: ""}
spec: {displayName: x, description: x, method: helm, versions: [VERSIONS]}
---
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata:
  name: velero
  labels: {apps.kubermatic.k8c.io/managed-by: kkp}
spec: {displayName: x, description: x, method: helm, versions: [VERSIONS]}
---
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata:
  name: cert-manager
  annotations: {kustomize.toolkit.fluxcd.io/reconcile: Disabled}
spec: {displayName: x, description: x, method: helm, versions: [VERSIONS]}
---
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata:
  name: somebodys
spec: {displayName: x, description: x, method: helm, versions: [VERSIONS]}
`

const liveVersion = `{version: 0.0.1, template: {source: {helm: {url: "https://charts.example.com", chartName: x, chartVersion: 0.0.1}}}}`

// Define applies the live definitions.
func (c *Cluster) Define() {
	c.T.Helper()
	if err := c.ApplyPath(c.T.Context(), "test/stack/crds"); err != nil {
		c.T.Fatal(err)
	}
	c.ApplyAll(strings.ReplaceAll(liveDefinitions, "VERSIONS", liveVersion))
}
