// SPDX-License-Identifier: Apache-2.0

// Package kubermatic makes the objects of Flux and a CatalogSelection of the application catalog that a KubermaticConfiguration
// names. It must not know how files are read and written.
package kubermatic
