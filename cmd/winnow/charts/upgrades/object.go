// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

const (
	// maxValues bounds the values of a manifest that is read, and maxKept those of all objects of a side, without the schemas of
	// definitions, in number.
	maxValues = 2_000_000
	maxKept   = 1_000_000
)

// identity is what Helm and the API server know an object by. The version of its API is no part of it.
type identity struct{ group, kind, namespace, name string }

func compare(a, b identity) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name), cmp.Compare(a.group, b.group))
}

// String returns the object for people, bounded.
func (i identity) String() string {
	const most = 200
	return strings.TrimSpace(excerpt.To(i.kind, most) + " " + strings.TrimPrefix(excerpt.To(i.namespace, most)+"/"+excerpt.To(i.name, most), "/"))
}

// object is a rendered object.
type object struct {
	identity

	content map[string]any
	// manifest that has it, and prefix of the paths of its fields there, which is that of a list.
	manifest *rendering.Manifest
	prefix   string
}

// inCRDs reports whether it is of a directory crds, which Helm installs once, and never upgrades or deletes.
func (o object) inCRDs() bool {
	_, path, _ := strings.Cut(o.manifest.Path, "/")
	for strings.HasPrefix(path, "charts/") {
		parts := strings.SplitN(path, "/", 3)
		if len(parts) < 3 {
			return false
		}
		path = parts[2]
	}
	return strings.HasPrefix(path, "crds/")
}

// isGenerated reports whether two renders differ in a field.
func (o object) isGenerated(path string) bool { return o.manifest.IsGenerated(o.prefix + path) }

// hasGeneratedName reports whether two renders have another object each.
func (o object) hasGeneratedName() bool { return o.manifest != nil && o.isGenerated(".metadata.name") }

// isKept reports whether Helm leaves the object in the cluster when it is no longer rendered.
func (o object) isKept() bool { return o.annotation("helm.sh/resource-policy") == "keep" }

func (o object) annotation(name string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(o.content, "metadata", "annotations", name)
	text, _ := value.(string)
	return strings.ToLower(strings.TrimSpace(text))
}

// objects are the objects of a release by identity. Those of hooks are no part of one: Helm deletes and creates them anew.
type objects map[identity]object

// sorted returns the identities in their order.
func (all objects) sorted() []identity {
	keys := make([]identity, 0, len(all))
	for key := range all {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, compare)
	return keys
}

// read returns the objects of the manifests, but those of texts that are left out. A problem is a manifest that cannot be read.
func read(manifests []rendering.Manifest, namespace string, skip map[string]bool) (all objects, problems []string) {
	r := reader{all: objects{}, namespace: namespace}
	for i := range manifests {
		m := &manifests[i]
		if skip[m.Text] {
			continue
		}
		if err := r.add(m); err != nil {
			problems = append(problems, fmt.Sprintf("%s cannot be read: %s", excerpt.To(m.Path, 200), excerpt.Of(err.Error())))
		}
		if r.kept > maxKept {
			return r.all, append(problems, fmt.Sprintf("what it renders to has more than %d values", maxKept))
		}
	}
	return r.all, problems
}

// reader reads the objects of a side.
type reader struct {
	all       objects
	namespace string
	// kept is the number of values of the objects.
	kept int
}

// add adds the objects of a manifest.
func (r *reader) add(m *rendering.Manifest) error {
	if yamlnode.MostValues([]byte(m.Text)) > maxValues {
		return fmt.Errorf("it may have more than %d values", maxValues)
	}
	var problems []error
	for document, err := range yamlnode.Documents([]byte(m.Text)) {
		if err != nil {
			return errors.Join(append(problems, err)...)
		}
		content, size, err := contentOf(document.Content[0])
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if r.kept += size; r.kept > maxKept {
			break
		}
		r.all.put(object{content: content, manifest: m}, r.namespace)
	}
	return errors.Join(problems...)
}

// put adds an object, or the objects of a list. Helm takes them out of it.
func (all objects) put(o object, namespace string) {
	kind, _ := o.content["kind"].(string)
	items, isList := o.content["items"].([]any)
	if isList && strings.HasSuffix(kind, "List") {
		for i, item := range items {
			if content, ok := item.(map[string]any); ok && o.prefix == "" {
				all.put(object{content: content, manifest: o.manifest, prefix: fmt.Sprintf(".items[%d]", i)}, namespace)
			}
		}
		return
	}
	if kind == "" || o.annotation("helm.sh/hook") != "" {
		return
	}
	version, _ := o.content["apiVersion"].(string)
	group, _ := schema.ParseGroupVersion(version)
	o.identity = identity{group: group.Group, kind: kind}
	o.name, _, _ = unstructured.NestedString(o.content, "metadata", "name")
	if !isClusterScoped(group.Group, kind) {
		o.namespace, _, _ = unstructured.NestedString(o.content, "metadata", "namespace")
		o.namespace = cmp.Or(o.namespace, namespace)
	}
	all[o.identity] = o
}

// contentOf returns the content of a document, and the number of its values. The schemas of a CustomResourceDefinition, which may be larger than all else, are
// left out.
func contentOf(node *yaml.Node) (content map[string]any, values int, err error) {
	node = yamlnode.Resolve(node)
	if isDefinition(node) {
		dropSchemas(node)
	}
	if err := yamlnode.Validate(node); err != nil {
		return nil, 0, err
	}
	size, _ := yamlnode.Check(node, yamlnode.MaxAliased, func(int, string, ...any) {})
	plain, err := yamlnode.Plain(node)
	if err != nil {
		return nil, 0, err
	}
	content, ok := plain.(map[string]any)
	if !ok {
		return nil, 0, yamlnode.ErrNoMapping
	}
	return content, size.Nodes, nil
}

// definitionKind is the kind of the definitions of custom resources.
var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

func isDefinition(node *yaml.Node) bool {
	kind, _ := yamlnode.Text(yamlnode.Written(node, "kind"))
	return kind == definitionKind.Kind
}

// dropSchemas removes the schemas of a definition.
func dropSchemas(node *yaml.Node) {
	spec := yamlnode.Written(node, "spec")
	drop(spec, "validation")
	if versions := yamlnode.Written(spec, "versions"); versions != nil {
		for _, version := range versions.Content {
			drop(yamlnode.Resolve(version), "schema")
		}
	}
}

// drop removes a key of a mapping.
func drop(mapping *yaml.Node, key string) {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return
	}
	for i := len(mapping.Content) - 2; i >= 0; i -= 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
		}
	}
}
