// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// Consumer is a Kustomization, which applies the artifact of a selection if its source is an ExternalArtifact.
type Consumer struct {
	Origin
	Name string
	// Kind of its source, and SourceName its namespace and name.
	Kind       string
	SourceName types.NamespacedName
	// Waits reports that it is not Ready before its objects are, and Moves that it changes their namespace. Renames are
	// its fields that change their names.
	Waits, Moves bool
	Renames      []string
	// Prune reports that Flux deletes objects that leave the artifact, and Deletes that it deletes all its
	// objects when the Kustomization is removed.
	Prune, Deletes bool
	// Spec maps its fields to their values.
	Spec map[string]any
}

// renamesOf returns the fields of a Kustomization that change the names of objects.
func renamesOf(k kustomizev1.Kustomization) []string {
	var fields plaintext.Texts
	fields.Add(k.Spec.NamePrefix != "", "spec.namePrefix")
	fields.Add(k.Spec.NameSuffix != "", "spec.nameSuffix")
	return fields
}

// deletesOnRemoval reports whether Flux deletes the objects of a Kustomization when it is removed.
func deletesOnRemoval(k kustomizev1.Kustomization) bool {
	switch k.GetDeletionPolicy() {
	case kustomizev1.DeletionPolicyDelete, kustomizev1.DeletionPolicyWaitForTermination:
		return !k.Spec.Suspend
	case kustomizev1.DeletionPolicyOrphan:
		return false
	}
	return k.Spec.Prune && !k.Spec.Suspend
}

// Continues reports whether newer is the Kustomization k in a later commit: of the same name, and the same cluster or file.
func (k Consumer) Continues(newer Consumer) bool {
	return k.Name == newer.Name && k.Cluster == newer.Cluster && (k.Cluster != "" || k.File == newer.File)
}

// Namespaces returns the namespaces of the Kustomization and of its appliers.
func (k Consumer) Namespaces() (all []string) {
	for _, name := range append(slices.Clone(k.Appliers), k.Name) {
		if namespace, _, named := strings.Cut(name, "/"); named {
			all = append(all, namespace)
		}
	}
	return all
}

// Having returns which of the fields are in the spec, as a list.
func (k Consumer) Having(fields ...string) string {
	var found []string
	for _, field := range fields {
		if _, set := k.Spec[field]; set {
			found = append(found, "spec."+field)
		}
	}
	return strings.Join(found, ", ")
}

// Source returns the source of a consumer for a message.
func (k Consumer) Source() string {
	if k.Kind == sourcev1.ExternalArtifactKind {
		return k.SourceName.String()
	}
	return k.Kind + " " + k.SourceName.String()
}
