#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# Checks Winnow in a cluster that has it, Flux and the definition of ApplicationDefinitions: a catalog is published and
# applied, and a pod that is replaced deletes nothing. $1 is the registry as this machine reaches it, $2 as pods do.
set -eu

definitions() {
  kubectl get applicationdefinitions -o jsonpath='{range .items[*]}{.metadata.name} {.metadata.uid}{"\n"}{end}'
}

applied() {
  kubectl -n flux-system wait --for=condition=Ready --timeout=3m ocirepository/check catalogselection/check kustomization/check
}

bin/winnow push examples/catalog "oci://$1/check:latest" --plain-http
kubectl apply -f - <<EOF
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: check, namespace: flux-system}
spec:
  interval: 10s
  url: oci://$2/check
  insecure: true
  ref: {tag: latest}
  layerSelector: {mediaType: application/vnd.oci.image.layer.v1.tar+gzip, operation: extract}
---
apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: check, namespace: flux-system}
spec:
  interval: 10s
  sources: [{name: check}]
  limit: {metadataSelector: {tierRefs: [silver]}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: check, namespace: flux-system}
spec:
  interval: 10s
  retryInterval: 2s
  sourceRef: {kind: ExternalArtifact, name: check}
  path: ./
  prune: true
EOF
applied
before=$(definitions)
case $before in *velero*) ;; *) echo "not applied: $before" >&2; exit 1 ;; esac

kubectl -n winnow-system delete pod -l app=winnow-controller --wait
kubectl -n winnow-system rollout status deployment/winnow-controller --timeout=3m
kubectl -n flux-system annotate kustomization/check --overwrite "reconcile.fluxcd.io/requestedAt=$(date +%s)"
applied
after=$(definitions)
[ "$before" = "$after" ] || { printf 'objects were deleted:\n%s\nare\n%s\n' "$before" "$after" >&2; exit 1; }
echo "passed: $(kubectl version -o json | sed -n 's/.*"gitVersion": "\(v1[^"]*\)".*/\1/p' | tail -n 1)"
