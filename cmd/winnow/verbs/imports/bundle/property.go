// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"encoding/json"
	"strings"

	"github.com/blang/semver/v4"
	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// readProperties returns the list in a file that may be missing. check returns what is wrong with an item.
func (r *reader) readProperties(name, field string, check func(Property) string) ([]Property, error) {
	f, err := r.read(name)
	if f == nil {
		return nil, err
	}
	defer func() { r.report.Merge(f.Findings) }()
	for _, item := range f.items(field) {
		f.checkItem(field, yamlnode.Resolve(item))
	}
	var content map[string]json.RawMessage
	if len(f.Kept) > 0 || !f.decode(&content) {
		return nil, nil
	}
	var properties []Property
	if err := json.Unmarshal(content[field], &properties); err != nil {
		f.Add(f.line(field), "%s cannot be read: %s", field, err)
		return nil, nil
	}
	for i, one := range properties {
		if problem := check(one); problem != "" {
			f.Add(f.itemLine(i, field), "%s: %s: %s", field, excerpt.Of(one.Type), problem)
		}
	}
	return properties, nil
}

// checkItem reports an item without a type or a value.
func (f *file) checkItem(field string, item *yaml.Node) {
	if item.Kind != yaml.MappingNode {
		f.Add(item.Line, "%s: an item must be a mapping, not %s", field, yamlnode.Describe(item))
		return
	}
	document.RequiredText(item, yamlnode.Lookup(item, "type"), field+": type", &f.Findings)
	switch value := yamlnode.Lookup(item, "value"); {
	case value == nil:
		f.Add(item.Line, "%s: value is missing", field)
	case yamlnode.IsNull(value):
		f.Add(value.Line, "%s: value must not be null", field)
	}
}

// checkDependency returns what is wrong with a dependency, empty for one that OLM can resolve.
func checkDependency(one Property) string {
	switch one.Type {
	case TypeGVK:
		return checkAPI(one.Value)
	case TypePackage:
		var value struct{ PackageName, Version string }
		if json.Unmarshal(one.Value, &value) != nil || value.PackageName == "" || value.Version == "" {
			return mappingWith("packageName", "version")
		}
		if _, err := semver.ParseRange(value.Version); err != nil {
			return "version " + excerpt.Quoted(value.Version) + " is no range of versions, such as >=1.2.0 <2.0.0"
		}
	case "olm.label":
		var value struct{ Label string }
		if json.Unmarshal(one.Value, &value) != nil || value.Label == "" {
			return mappingWith("label")
		}
	case "olm.constraint":
		return checkConstraint(one.Value)
	default:
		return "is no type of a dependency: want olm.package, olm.gvk, olm.label or olm.constraint"
	}
	return ""
}

// checkConstraint returns what is wrong with a constraint, whose expressions only OLM evaluates.
func checkConstraint(value []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return "value must be a mapping"
	}
	found := each.Where([]string{"cel", "package", "gvk", "all", "any", "not"}, func(one string) bool { return len(members[one]) > 0 })
	if len(found) != 1 {
		return "value must have one of cel, package, gvk, all, any and not"
	}
	var cel struct{ Rule string }
	if found[0] == "cel" && (json.Unmarshal(members["cel"], &cel) != nil || cel.Rule == "") {
		return "cel must have a rule"
	}
	return ""
}

// checkProperty returns what is wrong with a property that a bundle adds to the properties of its manifests.
func checkProperty(one Property) string {
	switch one.Type {
	case TypePackage:
		return "the package and its version come from " + annotationsFile + " and the ClusterServiceVersion: leave it out"
	case TypeGVK:
		return checkAPI(one.Value)
	}
	return ""
}

func checkAPI(value []byte) string {
	var api API
	if json.Unmarshal(value, &api) != nil || api.Group == "" || api.Version == "" || api.Kind == "" {
		return mappingWith("group", "version", "kind")
	}
	return ""
}

func mappingWith(fields ...string) string {
	return "value must be a mapping with the strings " + strings.Join(fields, " and ") + ", none of them empty"
}
