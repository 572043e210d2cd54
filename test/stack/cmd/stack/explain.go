// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/winnow-dev/winnow/test/stack"
)

// catalogName is the example catalog in the registry; tryFile holds tryManifests, with its address.
const (
	catalogName = "catalog"
	tryFile     = "try.yaml"
)

const tryManifests = `# From the catalog in the registry to ApplicationDefinitions in the cluster.
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: catalog
  namespace: flux-system
spec:
  interval: 10s
  url: oci://%s/` + catalogName + `
  insecure: true
  ref: {tag: latest}
  layerSelector:
    mediaType: ` + stack.CatalogLayerMediaType + `
    operation: extract
---
apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata:
  name: gold
  namespace: flux-system
spec:
  interval: 10s
  sources:
  - name: catalog
  limit:
    metadataSelector:
      tierRefs: [gold]
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: gold
  namespace: flux-system
spec:
  interval: 10s
  sourceRef: {kind: ExternalArtifact, name: gold}
  path: ./
  prune: true
`

const explanation = `
The system is running. In another terminal:

    export KUBECONFIG=%[2]s
    kubectl apply -f %[1]s/%[3]s
    kubectl get catalogselections,externalartifacts,kustomizations -A
    kubectl get applicationdefinitions

Registry       %[4]s (plain HTTP), with examples/catalog as
               oci://%[4]s/%[5]s:latest
Logs           %[1]s/logs
Data           %[1]s

Change tierRefs in %[3]s, or push another catalog under the same tag, and
watch what changes. There is no kube-controller-manager: Deployments run no
pods, and deleted namespaces stay. There is no helm-controller either: nothing
installs the HelmReleases of instances.

Ctrl-C stops and removes everything.
`

// explain prints how to use the system.
func explain(s *stack.Stack, out io.Writer) error {
	_, err := fmt.Fprintf(out, explanation, s.Dir(), s.Kubeconfig(), tryFile, s.RegistryHost(), catalogName)
	return err
}
