#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# Starts a cluster of kind with a registry of zot, Flux and Winnow: $1 is the version of Kubernetes, $2 the one of Flux.
set -eu

registry=localhost:5000
docker run -d --name zot --network bridge -p 127.0.0.1:5000:5000 ghcr.io/project-zot/zot-minimal:v2.1.8
kind create cluster --image "kindest/node:$1" --wait 3m --config - <<EOF
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
containerdConfigPatches:
- |-
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "/etc/containerd/certs.d"
EOF
docker network connect kind zot
docker exec kind-control-plane mkdir -p "/etc/containerd/certs.d/$registry"
printf '[host."http://zot:5000"]\n' | docker exec -i kind-control-plane cp /dev/stdin "/etc/containerd/certs.d/$registry/hosts.toml"

kubectl apply -f "https://github.com/fluxcd/flux2/releases/download/$2/install.yaml"
kubectl -n flux-system patch deployment kustomize-controller --type json \
  -p '[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--feature-gates=ExternalArtifact=true"}]'

image=$(make --no-print-directory image IMAGE_REPO="$registry/winnow-controller" IMAGE_TAG=kind IMAGE_PLATFORMS=linux/amd64 | tail -n 1)
make release-manifests IMAGE="$image"
kubectl apply --server-side -f bin/install.yaml
kubectl apply --server-side -f test/stack/crds
kubectl -n flux-system rollout status deployment/kustomize-controller --timeout=3m
kubectl -n winnow-system rollout status deployment/winnow-controller --timeout=3m
