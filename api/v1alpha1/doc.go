// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the wire contract of Winnow: the CatalogSelection kind of the API group
// catalog.winnow.dev, its conditions, their reasons, and the labels that its artifacts carry.
// It holds no logic and must not know the renderer or the controller.
//
// +kubebuilder:object:generate=true
// +groupName=catalog.winnow.dev
package v1alpha1
