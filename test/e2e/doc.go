// SPDX-License-Identifier: Apache-2.0

// Package e2e tests Winnow as a process with real servers: etcd, kube-apiserver, a registry,
// Flux's source-controller and kustomize-controller. It must not know the code of Winnow, only
// its API, its command line and the objects that it writes.
package e2e
