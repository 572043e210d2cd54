package catalog

import (
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/reserved"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// MetadataProblems returns what is wrong with the metadata of an object that patches may have changed: what a catalog may
// not set, except for reserved labels and annotations.
func MetadataProblems(metadata *yaml.Node) []string {
	found := &findings{}
	checkMetadata(metadata, checkLabel, checkAnnotation, found)
	problems := make([]string, len(found.kept))
	for i, violation := range found.kept {
		problems[i] = violation.Message
	}
	return problems
}

func checkObjectMeta(metadata *yaml.Node, found *findings) {
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
func checkMetadata(metadata *yaml.Node, checkLabel, checkAnnotation pairCheck, found *findings) {
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

// pairCheck returns what is wrong with a label or an annotation.
type pairCheck func(key, value string) []string

func checkMetaField(field yamlnode.Entry, found *findings) {
	switch field.Name {
	case "name": // checkName
	case "generateName":
		found.add(field.Line, "metadata.generateName is not allowed: the name must be known")
	case "resourceVersion":
		found.add(field.Line, "metadata.resourceVersion is not allowed: it is the API server's")
	case "uid", "managedFields", "generation", "selfLink", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds":
		if !yamlnode.IsNull(field.Value) { // controller-gen writes "creationTimestamp: null"
			found.add(field.Line, "metadata.%s is not allowed: it is the API server's", field.Name)
		}
	case "ownerReferences":
		if !yamlnode.IsNull(field.Value) {
			found.add(field.Line, "metadata.ownerReferences is not allowed: the object would go with owners that no catalog can know")
		}
	case "namespace":
		checkNamespace(field, found)
	case "finalizers":
		checkFinalizers(field.Value, found)
	default:
		found.add(field.Line, "metadata has the field %s, which Kubernetes does not know", quote(field.Name))
	}
}

func checkNamespace(field yamlnode.Entry, found *findings) {
	if yamlnode.IsNull(field.Value) {
		return
	}
	namespace, ok := yamlnode.Text(field.Value)
	if !ok {
		found.add(field.Line, "metadata.namespace must be a string, not %s", yamlnode.Describe(field.Value))
		return
	}
	if problems := validation.IsDNS1123Label(namespace); namespace != "" && len(problems) > 0 {
		found.add(field.Line, "metadata.namespace %s is not valid: %s", quote(namespace), problems[0])
	}
}

func checkPairs(field yamlnode.Entry, check pairCheck, found *findings) {
	if yamlnode.IsNull(field.Value) {
		return
	}
	field.Name = "metadata." + field.Name
	parseStrings(field, check, found)
}

func checkFinalizers(value *yaml.Node, found *findings) {
	if yamlnode.IsNull(value) {
		return
	}
	if value.Kind != yaml.SequenceNode {
		found.add(value.Line, "metadata.finalizers must be a list, not %s", yamlnode.Describe(value))
		return
	}
	for i, element := range value.Content {
		finalizer, ok := yamlnode.Text(yamlnode.Resolve(element))
		if !ok {
			found.add(element.Line, "metadata.finalizers[%d] must be a string, not %s", i, yamlnode.Describe(yamlnode.Resolve(element)))
			continue
		}
		for _, problem := range validation.IsQualifiedName(finalizer) {
			found.add(element.Line, "metadata.finalizers[%d] %s is not valid: %s", i, quote(finalizer), problem)
		}
	}
}

func checkObjectLabel(key, value string) []string {
	return append(checkLabel(key, value), checkFree(key)...)
}

// checkObjectAnnotation refuses values that kustomize cannot write: it chooses a style of its own.
func checkObjectAnnotation(key, value string) []string {
	problems := append(checkAnnotation(key, value), checkFree(key)...)
	if IsUnwritable(value) {
		problems = append(problems, "the value of "+quote(key)+" has several lines and begins with a tab, which kustomize cannot write")
	}
	return problems
}

// checkFree refuses reserved keys, and those that kustomize cannot write.
func checkFree(key string) []string {
	if IsUnwritableKey(key) {
		return []string{"the key " + quote(key) + " is not allowed: kustomize cannot write it, because YAML reads it as no text"}
	}
	if reason := whyReserved(key); reason != "" {
		return []string{"the key " + quote(key) + " is not allowed: " + reason}
	}
	return nil
}

// IsReserved reports whether a label or annotation is not for a catalog to set: it is kustomize's, Flux's or Winnow's, or
// the bypass.
func IsReserved(key string) bool { return whyReserved(key) != "" }

// whyReserved returns why a label or annotation is not for a catalog to set; empty if it is. What package reserved has is
// refused with two exceptions: the tier is the author's, and by the labels of KKP a selection leaves out KKP's own
// applications. No other key of Flux is the catalog's either: with force, for one, Flux would delete and create an object
// of the cluster again.
func whyReserved(key string) string {
	owner := reserved.OwnerOf(key)
	domain, _, hasDomain := strings.Cut(strings.ToLower(key), "/")
	switch {
	case hasDomain && (domain == "fluxcd.io" || strings.HasSuffix(domain, ".fluxcd.io")):
		return "how Flux treats an object is not the catalog's to say"
	case key == v1alpha1.TierLabel, owner == reserved.KKP:
		return ""
	}
	return owner.Reason()
}
