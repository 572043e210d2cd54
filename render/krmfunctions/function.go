// SPDX-License-Identifier: Apache-2.0

package krmfunctions

import (
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// What the apiVersion and kind of a config can have; another name could never be found.
var (
	groupPattern   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	versionPattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	kindPattern    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)
)

// maxName bounds a group, a version and a kind, in bytes.
const maxName = 253

// function reads an entry of spec.krmFunctions. It returns nil for one without a name.
func (r *report) function(element *yaml.Node) *Function {
	o := r.object(element, "the function")
	if o == nil {
		return nil
	}
	o.known("group", "names", "kind", "description", "publisher", "versions", "runtime", "home", "maintainers", "tags")
	f := &Function{Line: o.line, Group: o.required("group", groupPattern), Kind: o.kind()}
	if f.Kind != "" {
		o.name = "the function " + f.Kind
	}
	f.Description, f.Publisher = o.described("description"), o.described("publisher")
	o.lacks()
	f.Home, _ = o.text("home")
	f.Maintainers, f.Tags = o.texts("maintainers"), o.texts("tags")
	shared := o.runtime()
	o.versions(f, shared)
	if f.Group == "" || f.Kind == "" {
		return nil
	}
	return f
}

// required returns a field that a function cannot be found without.
func (o *object) required(name string, pattern *regexp.Regexp) string {
	value, line := o.text(name)
	switch {
	case value == "":
		if entry, ok := yamlnode.Find(o.node, name); !ok || yamlnode.IsNull(entry.Value) || entry.Value.ShortTag() == "!!str" {
			o.lack(line, o.name+" has no "+name, name)
		}
		return ""
	case len(value) > maxName || !pattern.MatchString(value):
		o.refuse(line, "%s %s is not valid in a config", name, quote(value))
		return ""
	}
	return value
}

// kind returns names.kind, or kind, which the examples of the KEP have as well.
func (o *object) kind() string {
	short, line := o.text("kind")
	names := o.within("names")
	if names == nil {
		return o.required("kind", kindPattern)
	}
	names.known("kind")
	names.name = o.name + " in names"
	kind := names.required("kind", kindPattern)
	if short != "" && kind != "" && short != kind {
		o.refuse(line, "kind is %s, and names.kind is %s", quote(short), quote(kind))
	}
	return kind
}

func (o *object) versions(f *Function, shared *Runtime) {
	list, ok := yamlnode.Find(o.node, "versions")
	if !ok || yamlnode.IsNull(list.Value) {
		o.lack(o.line, o.name+" has no versions", "versions")
		return
	}
	elements := o.elements(list)
	if list.Value.Kind == yaml.SequenceNode && len(elements) == 0 {
		o.refuse(list.Line, "%s has no versions", o.name)
	}
	lines := map[string]int{}
	for _, element := range elements {
		v := o.version(element, shared)
		if v == nil {
			continue
		}
		if first := lines[v.Name]; first > 0 {
			o.warn(v.Line, "%s has the version %s again, which is not used: the first one is in line %d", o.name, v.Name, first)
			continue
		}
		lines[v.Name] = v.Line
		f.Versions = append(f.Versions, v)
	}
}

// version reads a version. Its own runtime wins over the function's.
func (o *object) version(element *yaml.Node, shared *Runtime) *Version {
	in := o.object(element, "a version of "+o.name)
	if in == nil {
		return nil
	}
	in.known("name", "schema", "idempotent", "runtime", "usage", "examples", "license", "maintainers")
	v := &Version{Line: in.line, Name: in.required("name", versionPattern)}
	if v.Name != "" {
		in.name = "version " + v.Name + " of " + o.name
	}
	v.Runtime = in.runtime()
	if v.Runtime == nil {
		v.Runtime = shared
	}
	own, _ := yamlnode.Find(in.node, "runtime")
	of, _ := yamlnode.Find(o.node, "runtime")
	if v.Runtime == nil && own.Value == nil && of.Value == nil {
		misspells := in
		if in.misspelt["runtime"] == "" {
			misspells = o
		}
		misspells.lack(in.line, in.name+" has no runtime, nor has the function", "runtime")
	}
	in.describe(v)
	if v.Name == "" {
		return nil
	}
	return v
}

// describe reads what people want to know of a version.
func (o *object) describe(v *Version) {
	if schema := o.within("schema"); schema != nil {
		schema.known("openAPIV3Schema")
		if inner := schema.within("openAPIV3Schema"); inner != nil {
			v.Schema = inner.node
		}
	}
	if v.Schema == nil {
		o.missing = append(o.missing, "schema.openAPIV3Schema")
	}
	if idempotent, ok := o.flag("idempotent"); ok {
		v.Idempotent = strconv.FormatBool(idempotent)
	} else {
		o.missing = append(o.missing, "idempotent")
	}
	v.Usage = o.described("usage")
	if v.Examples = o.texts("examples"); len(v.Examples) == 0 {
		o.missing = append(o.missing, "examples")
	}
	v.License = o.described("license")
	v.Maintainers = o.texts("maintainers")
	o.lacks()
}
