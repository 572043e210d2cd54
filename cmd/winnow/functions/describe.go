// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Description is everything that a catalog has about a function.
type Description struct {
	// Name is kind.group.
	Name        string   `json:"name"`
	Group       string   `json:"group"`
	Kind        string   `json:"kind"`
	Description string   `json:"description,omitempty"`
	Publisher   string   `json:"publisher,omitempty"`
	Home        string   `json:"home,omitempty"`
	Maintainers []string `json:"maintainers,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	// Path and line of the function in the catalog.
	Path     string               `json:"path"`
	Line     int                  `json:"line"`
	Versions []VersionDescription `json:"versions"`
}

// VersionDescription is everything that a catalog has about a version of a function.
type VersionDescription struct {
	Name string `json:"name"`
	// Runtimes are what can run.
	Runtimes []RuntimeDescription `json:"runtimes"`
	// Needs lists the network and the storage, as far as the version needs them.
	Needs       []string `json:"needs,omitempty"`
	Idempotent  string   `json:"idempotent,omitempty"`
	License     string   `json:"license,omitempty"`
	Usage       string   `json:"usage,omitempty"`
	Examples    []string `json:"examples,omitempty"`
	Maintainers []string `json:"maintainers,omitempty"`
	// Fields are from the schema.
	Fields []FieldDescription `json:"fields,omitempty"`
}

// RuntimeDescription is a runtime, of the type container, exec or starlark. Only exec has a platform.
type RuntimeDescription struct {
	Type     string `json:"type"`
	Platform string `json:"platform,omitempty"`
	Address  string `json:"address"`
	SHA256   string `json:"sha256,omitempty"`
}

// FieldDescription is a field of a config.
type FieldDescription struct {
	Path        string `json:"path"`
	Type        string `json:"type,omitempty"`
	Required    bool   `json:"required,omitempty"`
	Description string `json:"description,omitempty"`
}

// Describe returns everything that the catalog has about a function.
func (s *Source) Describe(f *krmfunctions.Function) Description {
	return Description{
		Name: f.Name(), Group: f.Group, Kind: f.Kind, Description: f.Description, Publisher: f.Publisher, Home: f.Home,
		Maintainers: f.Maintainers, Tags: f.Tags, Path: s.Locate(f.Path), Line: f.Line,
		Versions: append([]VersionDescription{}, each.Map(f.Versions, describeVersion)...), // a list in JSON, also of none
	}
}

func describeVersion(v *krmfunctions.Version) VersionDescription {
	d := VersionDescription{
		Name: v.Name, Idempotent: v.Idempotent, License: v.License, Usage: v.Usage, Examples: v.Examples, Maintainers: v.Maintainers,
		Fields: addFields(nil, v.Schema, ""),
	}
	if c := v.Runtime.Container; c != nil {
		d.Runtimes = append(d.Runtimes, RuntimeDescription{Type: "container", Address: c.Image, SHA256: c.SHA256})
		if c.Network {
			d.Needs = append(d.Needs, "network")
		}
		if c.Storage {
			d.Needs = append(d.Needs, "storage")
		}
	}
	if v.Runtime.Exec != nil {
		for _, p := range v.Runtime.Exec.Platforms {
			d.Runtimes = append(d.Runtimes, RuntimeDescription{"exec", p.OS + "/" + p.Arch, p.URI, p.SHA256})
		}
	}
	if s := v.Runtime.Starlark; s != nil {
		d.Runtimes = append(d.Runtimes, RuntimeDescription{Type: "starlark", Address: s.URI, SHA256: s.SHA256})
	}
	return d
}

// maxFields bounds the fields that are shown of a schema.
const maxFields = 500

// addFields adds the fields of a schema, which may be nil, each below the one that it is in; [] stands for the elements of a
// list, and * for any key.
func addFields(fields []FieldDescription, schema *yaml.Node, path string) []FieldDescription {
	var required []string
	if list := yamlnode.Lookup(schema, "required"); list != nil && list.Kind == yaml.SequenceNode {
		for _, one := range list.Content {
			name, _ := yamlnode.Text(yamlnode.Resolve(one))
			required = append(required, name)
		}
	}
	for _, property := range yamlnode.Entries(yamlnode.Lookup(schema, "properties")) {
		if len(fields) >= maxFields {
			return fields
		}
		at := strings.TrimPrefix(path+"."+property.Name, ".")
		kind, text := yamlnode.TextAt(property.Value, "type"), yamlnode.TextAt(property.Value, "description")
		fields = append(fields, FieldDescription{at, kind, slices.Contains(required, property.Name), text})
		fields = addFields(fields, property.Value, at)
	}
	if items := yamlnode.Lookup(schema, "items"); items != nil {
		fields = addFields(fields, items, path+"[]")
	}
	if values := yamlnode.Lookup(schema, "additionalProperties"); values != nil {
		fields = addFields(fields, values, path+".*")
	}
	return fields
}
