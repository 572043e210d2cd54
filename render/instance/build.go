// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/value"
)

// systemLabel marks the applications that a platform needs itself, such as its network.
const systemLabel = "apps.kubermatic.k8c.io/type"

// Surroundings are what the objects of instances depend on besides spec and catalog.
type Surroundings struct {
	// Selection is the name of the selection.
	Selection string
	// Document returns the document of a selected application as it is published.
	Document func(application string) []byte
	// Overrides returns what wins over the values of the instances of an application; nil for nothing.
	Overrides func(application string) map[string]any
	// Access returns how Flux reaches the address of a chart.
	Access func(url string) backend.Access
}

// Built is an instance with its objects.
type Built struct {
	Resolved
	// Backend that installs it.
	Backend string
	// Objects of the instance. One of them is its main object.
	Objects []backend.Object
	// Identity of the main object, before patches, and without what the objects beside it decide.
	Identity backend.Identity
	// Notes on what will not work everywhere.
	Notes []backend.Note
}

// maxBytes bounds the objects of all instances together: 256 instances can repeat the default values of one definition.
const maxBytes = 64 << 20

// Build builds the objects of all instances. The error joins all problems, or is the context's.
func Build(ctx context.Context, resolved []Resolved, around Surroundings) ([]Built, error) {
	b := builder{Surroundings: around, built: map[string]*Built{}, definitions: map[string]*defined{}}
	isSystem := func(r Resolved) bool { return r.Decision.Application.Labels[systemLabel] != "" }
	system := each.Map(each.Where(resolved, isSystem), func(r Resolved) string { return r.Name })
	dependencies := make(map[string][]string, len(resolved))
	for _, r := range resolved {
		names, err := expand(r, system)
		b.errs = append(b.errs, err)
		dependencies[r.Name] = names
	}
	ordered, err := inOrder(resolved, dependencies)
	if err = errors.Join(append(b.errs, err)...); err != nil {
		return nil, err
	}
	for _, r := range ordered {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("building the instance %s: %w", r.Name, err)
		}
		if b.add(r, dependencies[r.Name]); b.bytes > maxBytes {
			b.refuse(r, "", "the objects of this instance and those before it take more than %d bytes: shorten the values, or use several selections", maxBytes)
			break
		}
	}
	if err := errors.Join(b.errs...); err != nil {
		return nil, err
	}
	all := each.Map(resolved, func(r Resolved) Built { return *b.built[r.Name] })
	return all, nil
}

// expand returns the names of the instances that come first. system are the instances of system applications.
func expand(r Resolved, system []string) ([]string, error) {
	var names []string
	for _, name := range r.DependsOn {
		switch {
		case name != v1alpha1.DependsOnSystem:
			names = append(names, name)
		case slices.Contains(system, r.Name):
			return nil, &backend.Error{Instance: r.Name, Path: "dependsOn",
				Message: v1alpha1.DependsOnSystem + " includes the instance itself, which is a system application: name the others"}
		default:
			names = append(names, system...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// inOrder returns the instances so that each comes after those that it depends on.
func inOrder(resolved []Resolved, dependencies map[string][]string) ([]Resolved, error) {
	byName := each.By(resolved, func(r Resolved) string { return r.Name })
	var ordered []string
	for _, r := range resolved {
		if cycle := follow(r.Name, nil, &ordered, func(of string) []string { return dependencies[of] }); cycle != nil {
			return nil, &backend.Error{Instance: r.Name, Path: "dependsOn", Message: fmt.Sprintf("instances depend on each other: %q", cycle)}
		}
	}
	return each.Map(ordered, func(name string) Resolved { return byName[name] }), nil
}

type builder struct {
	Surroundings
	built       map[string]*Built
	definitions map[string]*defined
	errs        []error
	// bytes of the objects.
	bytes int
}

// defined is an application with the spec of its document as it is published.
type defined struct {
	application *catalog.Application
	spec        map[string]any
}

func (b *builder) add(r Resolved, dependencies []string) {
	built := &Built{Resolved: r, Backend: r.backendFor(r.Decision.Application)}
	b.built[r.Name] = built
	by := backends.Named(built.Backend)
	if by == nil && r.Bundle != nil {
		b.refuse(r, "backend", "is missing: a package is installed by %s (OLM v1) or %s (OLM v0)", backend.ClusterExtension, backend.Subscription)
		return
	}
	if by == nil {
		b.refuse(r, "backend", "no backend installs definitions of the API group %q", r.Decision.Application.Group)
		return
	}
	defined, err := b.define(r.Decision.Application)
	if err != nil {
		b.errs = append(b.errs, err)
		return
	}
	in := r.given
	in.Selection = b.Selection
	in.Application, in.Definition, in.Version = defined.application, defined.spec, r.Resolved
	in.Values = backend.MergeValues(in.Values, b.Overrides(r.Application))
	if in.Package, in.Bundle, in.Requested = r.Package, r.Bundle, r.Version; r.Bundle == nil {
		in.Access = b.Access(chartURL(defined.spec, r.Resolved))
	}
	for _, name := range dependencies {
		on := b.built[name]
		if on.Backend != built.Backend {
			b.refuse(r, "dependsOn", "%s has the backend %s: only instances with the same backend wait for each other", name, on.Backend)
			continue
		}
		in.DependsOn = append(in.DependsOn, on.Identity.Name)
	}
	if built.Objects, err = by.Build(in); err != nil {
		b.errs = append(b.errs, err)
		return
	}
	built.Identity, built.Notes = backend.IdentityOf(backend.MainOf(built.Objects)), backends.Notes(by.Type, in)
	for _, object := range built.Objects {
		b.bytes += object.Bytes
	}
}

func (b *builder) refuse(r Resolved, path, format string, args ...any) {
	b.errs = append(b.errs, &backend.Error{Instance: r.Name, Path: path, Message: fmt.Sprintf(format, args...)})
}

// define reads the published document of an application, once for all its instances. One that is no object has none.
func (b *builder) define(application *catalog.Application) (*defined, error) {
	if !application.IsObject() {
		return &defined{application: application}, nil
	}
	if known := b.definitions[application.Name]; known != nil {
		return known, nil
	}
	published := *application
	published.Document, published.Merged = b.Document(application.Name), nil
	spec, err := published.Spec()
	if err != nil {
		return nil, err
	}
	read := &defined{application: &published, spec: spec}
	b.definitions[application.Name] = read
	return read, nil
}

// chartURL returns the address of the chart of a version, empty where there is none.
func chartURL(spec map[string]any, version string) string {
	entry, _ := each.First(definition.Versions(value.Of(spec)), func(v definition.Version[value.Value]) bool { return v.Name == version })
	return entry.Chart().URL
}
