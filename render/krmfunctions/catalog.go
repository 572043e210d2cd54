// SPDX-License-Identifier: Apache-2.0

package krmfunctions

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/finding"
)

// APIVersion and the kinds: two of catalogs, which have the same fields, and one of functions.
const (
	APIVersion             = "config.kubernetes.io/v1alpha1"
	Kind                   = "Catalog"
	KindFunctionCatalog    = "KRMFunctionCatalog"
	KindFunctionDefinition = "KRMFunctionDefinition"

	kindNames = Kind + ", " + KindFunctionCatalog + " or " + KindFunctionDefinition
)

// IsKind reports whether a document of the apiVersion and the kind has functions.
func IsKind(apiVersion, kind string) bool {
	return apiVersion == APIVersion && (kind == Kind || kind == KindFunctionCatalog || kind == KindFunctionDefinition)
}

// Catalog is a list of functions.
type Catalog struct {
	// Functions that are valid, in the order of the files, sorted by path, and of their entries. A name is there once.
	Functions []*Function
	// Violations are what makes other functions unusable.
	Violations finding.Findings
	// Warnings name the facts that functions lack, such as a publisher.
	Warnings finding.Findings

	// invalid maps the names of invalid functions to their errors.
	invalid map[string]*InvalidError
}

// Function is an entry of spec.krmFunctions, or the spec of a KRMFunctionDefinition.
type Function struct {
	// Path and Line of the entry.
	Path string
	Line int
	// Catalog is the metadata.name of the catalog.
	Catalog string

	Group, Kind            string
	Description, Publisher string
	Home                   string
	Maintainers, Tags      []string
	// Versions, each name once.
	Versions []*Version
	// Entry is the text of the entry, as one of a catalog that begins with Head. Keep leaves versions out of it.
	Entry []byte
}

// Name returns kind.group, the name of a function in a catalog.
func (f *Function) Name() string { return f.Kind + "." + f.Group }

// Runtimes returns the types of the runtimes of all versions, each once and in this order: container, exec, starlark.
func (f *Function) Runtimes() []string {
	return each.Where(runtimeTypes(), func(one string) bool {
		return slices.ContainsFunc(f.Versions, func(v *Version) bool { return slices.Contains(v.Runtime.Types(), one) })
	})
}

func runtimeTypes() []string { return []string{"container", "exec", "starlark"} }

// Types returns the types of a runtime that are set, in the order container, exec, starlark.
func (r *Runtime) Types() (types []string) {
	for i, is := range []bool{r.Container != nil, r.Exec != nil, r.Starlark != nil} {
		if is {
			types = append(types, runtimeTypes()[i])
		}
	}
	return types
}

// Version is a version of the config that a function takes.
type Version struct {
	Name string
	Line int
	// Runtime of the version, or else of the function.
	Runtime *Runtime

	// Idempotent is "true", "false" or empty where it is not known.
	Idempotent     string
	Usage, License string
	Examples       []string
	Maintainers    []string
	// Schema is the openAPIV3Schema; nil without one.
	Schema *yaml.Node
}

// Runtime is how a function runs. One of its fields at least is set.
type Runtime struct {
	Line      int
	Container *Container
	Exec      *Exec
	Starlark  *Starlark
}

// Container is an image.
type Container struct {
	// Line and Column of the key image.
	Line, Column int
	Image        string
	// SHA256 of the image's manifest, in hexadecimal digits, from the field sha256 or the image's digest; empty
	// without.
	SHA256 string
	// Network and Storage report whether the function needs the network and mounts.
	Network, Storage bool
}

// Exec is a program for some platforms.
type Exec struct{ Platforms []Platform }

// Platform is a program for an operating system and an architecture.
type Platform struct {
	Line     int
	Bin      string
	OS, Arch string
	// URI is a path relative to the catalog's file, unless IsRemote.
	URI string
	// SHA256 of the program, in hexadecimal digits; empty without.
	SHA256 string
}

// Starlark is a script.
type Starlark struct {
	URI    string
	SHA256 string
}

// IsRemote reports whether the content of an address has to be downloaded: it has a scheme, or a user and a host as
// Git over SSH has them.
func IsRemote(uri string) bool {
	host, _, _ := strings.Cut(uri, "/")
	return strings.Contains(uri, "://") || strings.Contains(host, ":")
}

// Find returns the valid function with the group and the kind, and its version of the name. The version is nil if the
// function does not have it, and both are nil if there is no such function.
func (c *Catalog) Find(group, version, kind string) (*Function, *Version) {
	for _, f := range c.Functions {
		if f.Group != group || f.Kind != kind {
			continue
		}
		for _, v := range f.Versions {
			if v.Name == version {
				return f, v
			}
		}
		return f, nil
	}
	return nil, nil
}

// Named returns the functions with a name, which is kind.group or a kind.
func (c *Catalog) Named(name string) (found []*Function) {
	return each.Where(c.Functions, func(f *Function) bool { return f.Name() == name || f.Kind == name })
}

// Valid returns the violations of single functions as an *InvalidError, or nil if all functions are valid.
func (c *Catalog) Valid() error {
	return invalid(c.Violations)
}

// Invalid returns the violations of the function with a name, which is kind.group or a kind. It returns nil if that
// function is valid or does not exist.
func (c *Catalog) Invalid(name string) *InvalidError {
	for _, known := range slices.Sorted(maps.Keys(c.invalid)) {
		if kind, _, _ := strings.Cut(known, "."); known == name || kind == name {
			return c.invalid[known]
		}
	}
	return nil
}

// Strict returns the violations and the warnings of a catalog as an *InvalidError, or nil without any.
func (c *Catalog) Strict() error {
	all := finding.Findings{Kept: slices.Concat(c.Violations.Kept, c.Warnings.Kept), Omitted: c.Violations.Omitted + c.Warnings.Omitted}
	return invalid(all)
}

// Source returns what decides which code runs: the image, the programs and the script, with their hashes, in the types of
// JSON. A digest behind an image is the same as one beside it.
func (r *Runtime) Source() map[string]any {
	source := map[string]any{}
	if r == nil {
		return source
	}
	if c := r.Container; c != nil && c.Image != "" {
		name, _, _ := strings.Cut(c.Image, "@")
		source["container"] = hashed(map[string]any{"image": name}, c.SHA256)
	}
	if r.Exec != nil && len(r.Exec.Platforms) > 0 {
		var platforms []any
		for _, p := range r.Exec.Platforms {
			platforms = append(platforms, hashed(map[string]any{"bin": p.Bin, "os": p.OS, "arch": p.Arch, "uri": p.URI}, p.SHA256))
		}
		source["exec"] = map[string]any{"platforms": platforms}
	}
	if s := r.Starlark; s != nil && s.URI != "" {
		source["starlark"] = hashed(map[string]any{"uri": s.URI}, s.SHA256)
	}
	return source
}

func hashed(source map[string]any, sum string) map[string]any {
	if sum != "" {
		source["sha256"] = sum
	}
	return source
}
