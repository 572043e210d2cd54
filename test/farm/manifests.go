// SPDX-License-Identifier: Apache-2.0

package farm

const kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"

const ociRepository = `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: catalog
  namespace: flux-system
spec:
  interval: 10m
  url: oci://%s/catalogs/farm
%s  ref:
    tag: none
`

const catalogSelection = `apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata:
  name: applications
  namespace: flux-system
spec:
  interval: 10m
  sources:
  - name: catalog
`

const consumer = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: applications
  namespace: flux-system
spec:
  interval: 1h
  sourceRef:
    kind: ExternalArtifact
    name: applications
  prune: true
`

const bootstrapped = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1m
  ref:
    branch: main
  url: https://git.example.com/org/fleet.git
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 10m
  path: ./DIR
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
`

const applied = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: catalog
  namespace: flux-system
spec:
  interval: 10m
  path: ./rings/RING
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
  postBuild:
    substituteFrom:
    - kind: ConfigMap
      name: cluster-settings
`

const settings = `apiVersion: v1
kind: ConfigMap
metadata:
  name: cluster-settings
  namespace: flux-system
data:
  cluster: NAME
`

// tagged returns the patch that sets the tag of the catalog.
func tagged(tag string) string {
	return `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: catalog
  namespace: flux-system
spec:
  ref:
    tag: ` + tag + "\n"
}

// patched returns a patch of the selection with fields of its spec.
func patched(spec string) string {
	return `apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata:
  name: applications
  namespace: flux-system
spec:
  ` + spec + "\n"
}
