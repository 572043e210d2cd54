// SPDX-License-Identifier: Apache-2.0

// Package stack is the local real system: it builds and starts, on loopback and in a temporary
// directory, etcd, kube-apiserver, an OCI registry and Flux's source-controller and
// kustomize-controller, and runs Winnow beside them as a process.
//
// The controller tests, the e2e tests, `make stack` and `make demo` use it. It must not know the
// functions of Winnow: it starts processes, applies manifests and pushes catalogs, and imports no
// package of the product.
//
// There is no kube-controller-manager: dependents of a deleted owner are not collected, namespaces stay
// in Terminating, and Deployments run no pods.
package stack
