// SPDX-License-Identifier: Apache-2.0

// Package reserved tells the labels and annotations that steer kustomize, Flux, Winnow or KKP from those that are free.
//
// It must not know objects, catalogs or specs: their readers decide which keys they refuse.
package reserved

import (
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Owner is the program, or the admin, that acts on a reserved label or annotation.
type Owner string

// The owners. The zero value owns the keys that are free.
const (
	// Kustomize drops objects with some of its keys, and renames objects with others.
	Kustomize Owner = "kustomize"
	// Flux is kustomize-controller: its keys decide whether it applies an object, keeps it and takes it over.
	Flux Owner = "Flux"
	// Winnow recognizes what it has published from its keys.
	Winnow Owner = "Winnow"
	// KKP treats definitions with its keys as its own, and refuses to delete them.
	KKP Owner = "KKP"
	// Admin keeps a definition of a cluster from being updated.
	Admin Owner = "the admins of a cluster"
)

// What marks KKP's own definitions: the label of its operator, and the marks of its application-catalog-manager, a label since
// KKP 2.30 and an annotation before.
const (
	PlatformLabel     = "apps.kubermatic.k8c.io/managed-by"
	ManagerLabel      = "applicationcatalog.k8c.io/managed-by"
	ManagerAnnotation = "apps.k8c.io/managed-by-external-manager"
)

// ManagerMark returns the mark of KKP's application-catalog-manager on a definition, as "label KEY: VALUE"; empty without one.
// KKP 2.29 sets the annotation to "false" when the manager is switched off.
func ManagerMark(labels, annotations map[string]string) string {
	if value := labels[ManagerLabel]; value != "" {
		return "label " + ManagerLabel + ": " + value
	}
	if value := annotations[ManagerAnnotation]; value != "" && !strings.EqualFold(value, "false") {
		return "annotation " + ManagerAnnotation + ": " + value
	}
	return ""
}

// OwnerOf returns the owner of the key of a label or an annotation, empty for one that is free. The letter case does not
// matter: who acts on a key may ignore it. Other keys of Flux, such as sharding.fluxcd.io/key, are free.
//
// The schema of spec.commonMetadata has the same rule as an expression.
func OwnerOf(key string) Owner {
	key = strings.ToLower(key)
	switch key {
	case PlatformLabel, ManagerLabel, ManagerAnnotation:
		return KKP
	case v1alpha1.BypassLabel:
		return Admin
	}
	domain, _, ok := strings.Cut(key, "/")
	switch {
	case !ok:
		return ""
	case isWithin(domain, "config.kubernetes.io"), isWithin(domain, "config.k8s.io"):
		return Kustomize
	case domain == "kustomize.toolkit.fluxcd.io":
		return Flux
	case domain == v1alpha1.GroupVersion.Group:
		return Winnow
	}
	return ""
}

// Reason returns why nobody else may set a key of the owner.
func (o Owner) Reason() string {
	return map[Owner]string{
		Kustomize: "kustomize acts on it, and may drop or rename the object",
		Flux:      "it decides whether Flux applies and deletes the object",
		Winnow:    "only Winnow sets it",
		KKP:       "KKP takes the object for its own, and refuses to delete it",
		Admin:     "only a cluster's admins take a definition out of updates",
	}[o]
}

func isWithin(domain, parent string) bool {
	return domain == parent || strings.HasSuffix(domain, "."+parent)
}
