// SPDX-License-Identifier: Apache-2.0

// Package objectmeta checks the metadata that an object of a catalog has: its fields, labels and annotations.
//
// It must not know the rest of the object.
package objectmeta

import (
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Problems returns what is wrong with the metadata of an object that patches may have changed: what a catalog may
// not set, except for reserved labels and annotations.
func Problems(metadata *yaml.Node) []string {
	found := &violation.Findings{}
	checkMetadata(metadata, LabelProblems, AnnotationProblems, found)
	return each.Map(found.Kept, func(violation violation.Violation) string { return violation.Message })
}

// Check adds to found what is wrong with the metadata of an object of a catalog, but for its name.
func Check(metadata *yaml.Node, found *violation.Findings) {
	checkMetadata(metadata, checkObjectLabel, checkObjectAnnotation, found)
}

// checkMetadata checks the fields of an object's metadata but its name. What server-side apply
// does was measured with kube-apiserver 1.36:
//
//	field                                         server-side apply
//	uid                                           refuses any other than the object's
//	resourceVersion                               refuses any other than the object's, also null
//	managedFields                                 refuses it unless null
//	deletionTimestamp, deletionGracePeriodSeconds creates an object that is being deleted
//	creationTimestamp, generation, selfLink       ignores them
//	ownerReferences                               takes them; without those owners, the garbage
//	                                              collector deletes the object
//	unknown ones, wrong types, null labels        refuses them; the last are dropped
func checkMetadata(metadata *yaml.Node, checkLabel, checkAnnotation pairCheck, found *violation.Findings) {
	for _, field := range yamlnode.Entries(metadata) {
		switch field.Name {
		case "labels":
			checkPairs(field, checkLabel, found)
		case "annotations":
			checkPairs(field, checkAnnotation, found)
		default:
			checkMetaField(field, found)
		}
	}
}

func checkMetaField(field yamlnode.Entry, found *violation.Findings) {
	switch field.Name {
	case "name": // checkName
	case "generateName":
		found.Add(field.Line, "metadata.generateName is not allowed: the name must be known")
	case "resourceVersion":
		found.Add(field.Line, "metadata.resourceVersion is not allowed: it is the API server's")
	case "uid", "managedFields", "generation", "selfLink", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds":
		if !yamlnode.IsNull(field.Value) { // controller-gen writes "creationTimestamp: null"
			found.Add(field.Line, "metadata.%s is not allowed: it is the API server's", field.Name)
		}
	case "ownerReferences":
		if !yamlnode.IsNull(field.Value) {
			found.Add(field.Line, "metadata.ownerReferences is not allowed: the object would go with owners that no catalog can know")
		}
	case "namespace":
		checkNamespace(field, found)
	case "finalizers":
		checkFinalizers(field.Value, found)
	default:
		found.Add(field.Line, "metadata has the field %s, which Kubernetes does not know", excerpt.Quoted(field.Name))
	}
}

func checkNamespace(field yamlnode.Entry, found *violation.Findings) {
	namespace, ok := yamlnode.Text(field.Value)
	switch problems := validation.IsDNS1123Label(namespace); {
	case yamlnode.IsNull(field.Value), ok && namespace == "":
	case !ok:
		found.Add(field.Line, "metadata.namespace must be a string, not %s", yamlnode.Describe(field.Value))
	case len(problems) > 0:
		found.Add(field.Line, "metadata.namespace %s is not valid: %s", excerpt.Quoted(namespace), problems[0])
	}
}

func checkPairs(field yamlnode.Entry, check pairCheck, found *violation.Findings) {
	if yamlnode.IsNull(field.Value) {
		return
	}
	field.Name = "metadata." + field.Name
	document.Strings(field, check, found)
}

func checkFinalizers(value *yaml.Node, found *violation.Findings) {
	if yamlnode.IsNull(value) {
		return
	}
	if value.Kind != yaml.SequenceNode {
		found.Add(value.Line, "metadata.finalizers must be a list, not %s", yamlnode.Describe(value))
		return
	}
	for i, element := range value.Content {
		finalizer, ok := yamlnode.Text(yamlnode.Resolve(element))
		if !ok {
			found.Add(element.Line, "metadata.finalizers[%d] must be a string, not %s", i, yamlnode.Describe(yamlnode.Resolve(element)))
			continue
		}
		for _, problem := range validation.IsQualifiedName(finalizer) {
			found.Add(element.Line, "metadata.finalizers[%d] %s is not valid: %s", i, excerpt.Quoted(finalizer), problem)
		}
	}
}
