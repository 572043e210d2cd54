package catalog

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// cozystackGroup is the API group whose definitions share one name space of installed kinds.
const cozystackGroup = "cozystack.io"

// installed is the kind that a definition of Cozystack makes installable.
type installed struct {
	kind string
	line int
}

// facts notes what others want to know of a document without parsing it again.
func facts(root *yaml.Node, application *Application) {
	application.Identity = IdentityOf(root)
	metadata := yamlnode.Lookup(root, "metadata")
	application.Labels = stringMap(yamlnode.Lookup(metadata, "labels"))
	application.Annotations = stringMap(yamlnode.Lookup(metadata, "annotations"))
	if application.Annotations == nil {
		application.Annotations = map[string]string{}
	}
	spec := yamlnode.Lookup(root, "spec")
	if spec == nil || spec.Kind != yaml.MappingNode {
		return
	}
	if method, ok := yamlnode.Text(yamlnode.Lookup(spec, "method")); ok && len(method) <= maxMethod {
		application.Method = method
	}
	if version, ok := yamlnode.Text(yamlnode.Lookup(spec, "defaultVersion")); ok && len(version) <= maxVersion {
		application.DefaultVersion = version
	}
	for _, field := range yamlnode.Entries(spec) {
		application.SpecFields = append(application.SpecFields, field.Name)
	}
	if application.Group != cozystackGroup {
		return
	}
	if node := yamlnode.Lookup(yamlnode.Lookup(spec, "application"), "kind"); node != nil {
		kind, _ := yamlnode.Text(node)
		application.installs = installed{kind: kind, line: node.Line}
	}
}

// stringMap returns nil for what is not a mapping of strings, or empty.
func stringMap(node *yaml.Node) map[string]string {
	if node == nil || node.Kind != yaml.MappingNode || len(node.Content) == 0 {
		return nil
	}
	all := make(map[string]string, len(node.Content)/2)
	for _, member := range yamlnode.Entries(node) {
		value, ok := yamlnode.Text(member.Value)
		if !ok {
			return nil
		}
		all[member.Name] = value
	}
	return all
}

// distinctKinds reports definitions of Cozystack that install the same kind, of which its API
// server would serve either (cozystack#4361). The applications are in the order of their paths.
func (l *loader) distinctKinds(candidates []candidate) {
	first := map[string]*Application{}
	for _, one := range candidates {
		kind := one.application.installs.kind
		if kind == "" {
			continue
		}
		if other, taken := first[kind]; taken {
			l.report.addTo(RuleDuplicateKind, one.application.Path, one.application.installs.line, "spec.application.kind %s is taken by %s", quote(kind), other.Path)
			continue
		}
		first[kind] = one.application
	}
}

// maxMethod bounds the method of an application in bytes: it is recorded. KKP knows helm and git.
const maxMethod = 63

// maxKinds bounds the kinds of a catalog: the definitions of each are watched.
const maxKinds = 16

// fewKinds reports the first application of each kind that is too many.
func (l *loader) fewKinds(candidates []candidate) {
	seen := map[string]bool{}
	for _, one := range candidates {
		group := one.application.Group // the kind is the same of all
		if group == "" || seen[group] {
			continue
		}
		seen[group] = true
		if len(seen) > maxKinds {
			l.report.add(one.application.Path, "has the API group %s, which makes %d kinds of definitions: a catalog has at most %d",
				quote(group), len(seen), maxKinds)
		}
	}
}

// Spec parses the document again and returns its spec in JSON's types, as Metadata's Extra has
// them, with the merged versions; that of a content is empty. It is for those who need all of it; the fields of Application cost
// nothing. The result is the caller's own.
func (a *Application) Spec() (map[string]any, error) {
	if !a.IsObject() {
		return map[string]any{}, nil
	}
	spec, err := a.ownSpec()
	if err != nil {
		return nil, err
	}
	return spec, a.mergeSpec(spec)
}

// ownSpec is Spec without the merged versions.
func (a *Application) ownSpec() (map[string]any, error) {
	found := findings{path: a.Path, above: a.Above}
	root, _ := parse(a.Document, documentBounds(), &found)
	if root == nil {
		return nil, fmt.Errorf("reading spec: %w", &InvalidError{Violations: found.kept, Omitted: found.omitted})
	}
	node := yamlnode.Lookup(root, "spec")
	if node == nil {
		return nil, fmt.Errorf("reading spec of %s: there is none", a.Path)
	}
	value, err := yamlnode.Plain(node)
	if err != nil {
		return nil, fmt.Errorf("reading spec of %s: %w", a.Path, err)
	}
	spec, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("reading spec of %s: it is not a mapping", a.Path)
	}
	return spec, nil
}
