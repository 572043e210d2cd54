// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/value"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

const (
	// maxValues bounds the number of values in a manifest, and maxKept in all objects of a side, without the schemas of
	// definitions.
	maxValues = 2_000_000
	maxKept   = 1_000_000
)

// sides are what a release renders to before and after.
type sides struct{ from, to *side }

// read returns the objects of the manifests. A problem is a manifest that cannot be read or compared, or an object that is there
// twice.
func read(manifests []rendering.Manifest, namespace string) (s *side, problems []string) {
	s = &side{all: objects{}, hooks: objects{}, namespace: namespace}
	for i := range manifests {
		m := &manifests[i]
		path := excerpt.To(m.Path, 200)
		if err := s.add(m); err != nil {
			problems = append(problems, path+" cannot be read: "+excerpt.Of(err.Error()))
		}
		if slices.Contains(m.Generated, "") {
			problems = append(problems, path+" cannot be compared: it is another one in each render")
		}
		if s.kept > maxKept {
			return s, append(problems, fmt.Sprintf("what it renders to has more than %d values", maxKept))
		}
	}
	return s, append(problems, s.twice...)
}

// unquoted returns an error of the reader of YAML, or hides it: it quotes values, which may be a Secret's.
func unquoted(m *rendering.Manifest, err error) error {
	if strings.Contains(m.Text, secretKind) {
		return errors.New("what is wrong is not shown, because it may be in a Secret")
	}
	return err
}

// side has the objects of a side, and the objects of its hooks.
type side struct {
	all, hooks objects
	// namespace of the release.
	namespace string
	// kept is the number of values of the objects.
	kept int
	// twice are the objects that are there twice: either one may break something.
	twice []string
	// searched are the manifests to search for images, without Secrets.
	searched []rendering.Manifest
}

// add adds the objects of a manifest.
func (s *side) add(m *rendering.Manifest) error {
	if yamlnode.MostValues([]byte(m.Text)) > maxValues {
		return fmt.Errorf("it may have more than %d values", maxValues)
	}
	var problems []error
	var documents []map[string]any
	for document, err := range yamlnode.Documents([]byte(m.Text)) {
		if err != nil {
			problems = append(problems, unquoted(m, err))
			break
		}
		content, size, err := contentOf(m, document.Content[0])
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if s.kept += size; s.kept > maxKept {
			break
		}
		documents = append(documents, content)
	}
	for _, content := range documents {
		o := object{content: content, manifest: m}
		o.hook, o.policy = o.annotation(hookAnnotation), o.annotation(policyAnnotation)
		if !value.Of(content).Get("metadata", "annotations", policyAnnotation).IsSet() {
			o.policy = "before-hook-creation"
		}
		s.put(o, len(documents) == 1 && len(problems) == 0)
	}
	return errors.Join(problems...)
}

// put adds an object, or the objects of a list, which Helm takes out of it, whatever its kind is. Only a document is a hook. One
// without a name gets one of the API server, and is another one each time. alone reports that the manifest has nothing else.
func (s *side) put(o object, alone bool) {
	if items, isList := o.content["items"].([]any); isList {
		for i, item := range items {
			if content, ok := item.(map[string]any); ok {
				completeItem(content, o.content)
				item := o
				item.content, item.prefix = content, fmt.Sprintf("%s.items[%d]", o.prefix, i)
				s.put(item, false)
			}
		}
		return
	}
	o.identity = identityOf(o.content, s.namespace)
	if o.kind != secretKind && o.kind != definitionKind.Kind {
		s.searched = append(s.searched, o.searchable(alone))
	}
	if o.kind == "" || o.name == "" {
		return
	}
	if o.hook != "" {
		s.hooks[o.identity] = o
		return
	}
	if _, twice := s.all[o.identity]; twice {
		s.twice = append(s.twice, o.String()+" is there twice: one of both is not compared")
	}
	s.all[o.identity] = o
}

// completeItem sets the kind of an item of a typed list, such as a SecretList, whose items need none.
func completeItem(item, list map[string]any) {
	kind, _ := list["kind"].(string)
	if kind = strings.TrimSuffix(kind, "List"); item["kind"] == nil && kind != "" {
		item["kind"], item["apiVersion"] = kind, list["apiVersion"]
	}
}

// searchable returns an object as a manifest; its own if there is nothing else in it.
func (o object) searchable(alone bool) rendering.Manifest {
	if alone {
		return *o.manifest
	}
	text, _ := yaml.Marshal(o.content) // what cannot be written has no images
	m := rendering.Manifest{Path: o.manifest.Path, Text: string(text)}
	for _, path := range o.manifest.Generated {
		if rest, ok := strings.CutPrefix(path, o.prefix); ok {
			m.Generated = append(m.Generated, rest)
		}
	}
	return m
}

// identityOf returns the identity of an object in a release in a namespace.
func identityOf(content map[string]any, namespace string) identity {
	kind, _ := content["kind"].(string)
	version, _ := content["apiVersion"].(string)
	parsed, _ := schema.ParseGroupVersion(version)
	i := identity{group: parsed.Group, kind: kind}
	i.name, _, _ = unstructured.NestedString(content, "metadata", "name")
	if !slices.Contains(clusterScoped[i.group], kind) {
		i.namespace, _, _ = unstructured.NestedString(content, "metadata", "namespace")
		i.namespace = cmp.Or(i.namespace, namespace)
	}
	return i
}

// contentOf returns the content of a document of a manifest, and the number of its values. The schemas of a
// CustomResourceDefinition, which may be larger than all else, are left out.
func contentOf(m *rendering.Manifest, node *yamlv3.Node) (content map[string]any, values int, err error) {
	node = yamlnode.Resolve(node)
	if kind, _ := yamlnode.Text(yamlnode.Written(node, "kind")); kind == definitionKind.Kind {
		dropSchemas(node)
	}
	if err := yamlnode.ValidateLastWins(node); err != nil {
		return nil, 0, err
	}
	size, _ := yamlnode.Check(node, yamlnode.MaxAliased, func(int, string, ...any) {})
	plain, err := yamlnode.Plain(node)
	if err != nil {
		return nil, 0, unquoted(m, err)
	}
	content, ok := plain.(map[string]any)
	if !ok {
		return nil, 0, yamlnode.ErrNoMapping
	}
	return content, size.Nodes, nil
}

// definitionKind is the kind of the definitions of custom resources.
var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// dropSchemas removes the schemas of a definition.
func dropSchemas(node *yamlv3.Node) {
	spec := yamlnode.Written(node, "spec")
	drop(spec, "validation")
	if versions := yamlnode.Written(spec, "versions"); versions != nil {
		for _, version := range versions.Content {
			drop(yamlnode.Resolve(version), "schema")
		}
	}
}

// drop removes a key of a mapping.
func drop(mapping *yamlv3.Node, key string) {
	if mapping == nil || mapping.Kind != yamlv3.MappingNode {
		return
	}
	for i := len(mapping.Content) - 2; i >= 0; i -= 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
		}
	}
}

// clusterScoped maps the groups of Kubernetes to their kinds without namespaces. It has no custom resources: the same on both sides,
// their scope makes no difference.
var clusterScoped = map[string][]string{
	"":                             {"Namespace", "Node", "PersistentVolume"},
	"admissionregistration.k8s.io": {"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apiregistration.k8s.io":       {"APIService"},
	"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"networking.k8s.io":            {"IPAddress", "IngressClass", "ServiceCIDR"},
	"node.k8s.io":                  {"RuntimeClass"},
	"policy":                       {"PodSecurityPolicy"},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"resource.k8s.io":              {"DeviceClass", "DeviceTaintRule", "ResourceSlice"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
	"storagemigration.k8s.io":      {"StorageVersionMigration"},
}
