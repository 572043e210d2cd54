// SPDX-License-Identifier: Apache-2.0

package chartupgrades

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// object is an object of a chart.
type object struct {
	*unstructured.Unstructured
	// fromCRDs is set where it is in a directory crds, which Helm installs once.
	fromCRDs bool
}

// manifest is a document, or a file of crds, with its path in the chart.
type manifest struct{ path, text string }

// objectsOf returns the objects of manifests, in their order.
func objectsOf(manifests []manifest) (all []object, err error) {
	for _, m := range manifests {
		reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(m.text)))
		for {
			document, err := reader.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			var parsed []*unstructured.Unstructured
			if err == nil {
				parsed, err = parse(document)
			}
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", m.path, err)
			}
			for _, o := range parsed {
				all = append(all, object{o, isOfCRDs(m.path)})
				simplify(all[len(all)-1])
			}
		}
	}
	return all, nil
}

// parse returns the object of a document, or those of a list.
func parse(document []byte) ([]*unstructured.Unstructured, error) {
	content, err := utilyaml.ToJSON(document)
	if err != nil || bytes.Equal(bytes.TrimSpace(content), []byte("null")) {
		return nil, err
	}
	var one unstructured.Unstructured
	if err := one.UnmarshalJSON(content); err != nil {
		return nil, err
	}
	if !one.IsList() {
		return []*unstructured.Unstructured{&one}, nil
	}
	var items []*unstructured.Unstructured
	err = one.EachListItem(func(item runtime.Object) error {
		if o, isObject := item.(*unstructured.Unstructured); isObject {
			items = append(items, o)
		}
		return nil
	})
	return items, err
}

// isOfCRDs reports whether a path such as CHART/charts/CHART/crds/FILE is in the directory crds of a chart.
func isOfCRDs(path string) bool {
	elements := strings.Split(path, "/")
	for len(elements) > 3 && elements[1] == "charts" {
		elements = elements[2:]
	}
	return len(elements) > 2 && elements[1] == "crds"
}

// Annotations of Helm.
const (
	hookAnnotation     = "helm.sh/hook"
	hookDeletion       = "helm.sh/hook-delete-policy"
	resourcePolicy     = "helm.sh/resource-policy"
	releaseName        = "meta.helm.sh/release-name"
	releaseNamespace   = "meta.helm.sh/release-namespace"
	managedBy          = "app.kubernetes.io/managed-by"
	beforeHookCreation = "before-hook-creation"
)

// hasHook reports whether an object is a hook of an event that ends with a word, such as install.
func (o object) hasHook(event string) bool {
	for hook := range strings.SplitSeq(o.GetAnnotations()[hookAnnotation], ",") {
		if strings.HasSuffix(strings.TrimSpace(hook), "-"+event) {
			return true
		}
	}
	return false
}

func (o object) isHook() bool { return o.GetAnnotations()[hookAnnotation] != "" }

func (o object) isRelease() bool { return !o.fromCRDs && !o.isHook() }

func (o object) isCRD() bool { return o.GetKind() == "CustomResourceDefinition" }

// isDeletedOn reports whether Helm deletes a hook at a moment.
func (o object) isDeletedOn(moment string) bool {
	policy, isSet := o.GetAnnotations()[hookDeletion]
	if !isSet {
		policy = beforeHookCreation
	}
	return strings.Contains(policy, moment)
}

// own sets the metadata by which Helm knows the objects of a release.
func (o object) own(namespace string) {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[managedBy], annotations[releaseName], annotations[releaseNamespace] = "Helm", Release, namespace
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
}

// simplify takes from a CRD its webhook, which is not installed and without whose certificate the CRD would not be served, and
// descriptions, most of its bytes.
func simplify(o object) {
	if !o.isCRD() {
		return
	}
	unstructured.RemoveNestedField(o.Object, "spec", "conversion")
	versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
	for _, version := range versions {
		undescribe(version)
	}
	_ = unstructured.SetNestedSlice(o.Object, versions, "spec", "versions")
}

func undescribe(value any) {
	switch value := value.(type) {
	case map[string]any:
		if _, isText := value["description"].(string); isText {
			delete(value, "description")
		}
		for _, below := range value {
			undescribe(below)
		}
	case []any:
		for _, below := range value {
			undescribe(below)
		}
	}
}

// identity is what Helm matches objects by: the version of the API is not part of it.
func identity(o *unstructured.Unstructured) string {
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	return o.GroupVersionKind().GroupKind().String() + " " + name
}

// kindOf returns the kind of an object, without the version of the API.
func kindOf(o object) string { return o.GroupVersionKind().GroupKind().String() }

// definedKinds returns the kinds that the CRDs among objects define.
func definedKinds(objects []object) map[string]bool {
	kinds := map[string]bool{}
	for _, o := range objects {
		if o.isCRD() {
			group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
			kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
			kinds[kind+"."+group] = true
		}
	}
	return kinds
}
