package catalog

import (
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// checkObjectMeta checks the fields of an object's metadata but its name. What server-side apply
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
func checkObjectMeta(metadata *yaml.Node, found *findings) {
	for _, field := range yamlnode.Entries(metadata) {
		checkMetaField(field, found)
	}
}

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
	case "labels":
		checkPairs(field, checkObjectLabel, found)
	case "annotations":
		checkPairs(field, checkObjectAnnotation, found)
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

func checkPairs(field yamlnode.Entry, check func(key, value string) []string, found *findings) {
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
	return append(checkLabel(key, value), reserved(key)...)
}

// checkObjectAnnotation refuses kustomize's own annotations too. Of those, local-config drops the
// object, needsHashSuffix renames it, previousNames without its siblings panics, and the rest are
// at best removed. The values kustomize writes in a style of its own, which may not be able to.
func checkObjectAnnotation(key, value string) []string {
	problems := append(checkAnnotation(key, value), reserved(key)...)
	if strings.HasPrefix(value, "\t") && strings.Contains(value, "\n") {
		problems = append(problems, "the value of "+quote(key)+" has several lines and begins with a tab, which kustomize cannot write")
	}
	switch domainOf(key) {
	case "config.kubernetes.io", "internal.config.kubernetes.io", "alpha.config.kubernetes.io", "config.k8s.io", "kustomize.config.k8s.io":
		problems = append(problems, "the key "+quote(key)+" is not allowed: kustomize acts on it, and may drop or rename the object")
	}
	return problems
}

// IsReserved reports whether a label or annotation is Flux's or Winnow's, or the bypass: not for a catalog to set.
func IsReserved(key string) bool { return len(reserved(key)) > 0 }

// reserved says why a label or annotation is not for the catalog to set: with force, for one, it
// could have Flux delete and create an object of the cluster again, and with the bypass the catalog
// could take a definition away from updates. Those who act on them may ignore the case.
func reserved(key string) []string {
	domain, problem := strings.ToLower(domainOf(key)), ""
	switch {
	case domain == "fluxcd.io" || strings.HasSuffix(domain, ".fluxcd.io"):
		problem = "how Flux treats an object is not the catalog's to say"
	case domain == v1alpha1.GroupVersion.Group && key != v1alpha1.TierLabel:
		problem = "only Winnow sets it"
	case strings.EqualFold(key, v1alpha1.BypassLabel):
		problem = "only a cluster's admins take a definition out of updates"
	default:
		return nil
	}
	return []string{"the key " + quote(key) + " is not allowed: " + problem}
}

// domainOf returns what stands before the slash of a key, empty without one.
func domainOf(key string) string {
	if domain, _, ok := strings.Cut(key, "/"); ok {
		return domain
	}
	return ""
}
