// SPDX-License-Identifier: Apache-2.0

// Package installation has the objects that install the instances of an artifact, before and after patches. It must not
// know a kustomization.yaml.
package installation

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/identity"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Instance is an instance in an artifact.
type Instance struct {
	// Name of the instance, Application that it installs, and Source of the application.
	Name, Application, Source string
	// Requested is the version in the spec; empty for the default version. Version is what it resolves to, empty for
	// definitions without versions.
	Requested, Version string
	// Backend that installs it.
	Backend string
	// Main is the object whose deletion uninstalls it.
	Main safeguard.Definition
	// Named reports whether the spec names exactly this version.
	Named bool
	// Objects that install it, sorted by kind, namespace and name. Instances share sources and namespaces.
	Objects []Object
	// Notes on what will not work everywhere, though nothing is wrong with it.
	Notes []backend.Note
}

// Installation has the objects of all instances.
type Installation struct {
	built []instance.Built
	// Objects of all instances, each once.
	Objects []backend.Object
	// origin is Input.Origin.
	origin func(application, version string) string
}

// Input is what Build needs besides the instances.
type Input struct {
	// Surroundings of the instances.
	instance.Surroundings

	// AnnotateSource annotates the main objects with the digest of the source of their application.
	AnnotateSource bool
	// Origin returns the origin of the chart of a version of an application; empty if the artifact does not tell it.
	Origin func(application, version string) string
}

// Build builds the instances that can be resolved. The error is the context's, or a *refusal.Error with the reason
// InvalidSpec.
func Build(ctx context.Context, resolved []instance.Resolved, in Input) (Installation, error) {
	built, err := instance.Build(ctx, resolved, in.Surroundings)
	if ctx.Err() != nil {
		return Installation{}, err
	}
	objects := map[string][]backend.Object{}
	for _, b := range built {
		annotate(b, in.AnnotateSource)
		objects[b.Name] = b.Objects
	}
	var union []backend.Object
	if err == nil {
		union, err = backend.Union(objects)
	}
	if err != nil {
		return Installation{}, refusal.OfSpec("spec.instances", refusal.Flat(err))
	}
	return Installation{built: built, Objects: union, origin: in.Origin}, nil
}

// Installed returns the instances of the artifact, as patches leave them: patched has the built objects, nil
// without patches. The error is a *refusal.Error with the reason InvalidSpec: a locked value is not known, or a patch changes what
// is installed.
func (in Installation) Installed(patched map[safeguard.Key]kustomized.Object) ([]Instance, error) {
	var all []Instance
	var errs []error
	for _, b := range in.built {
		objects := Patched(b.Objects, patched)
		if err := checkChosen(b.Objects, objects); err != nil {
			return nil, err
		}
		main := MainOf(backend.MainOf(objects).Object)
		main.Identity = IdentityIn(backend.MainOf(objects), objects)
		main.Instance, main.Application, main.Source = b.Name, b.Application, b.Decision.Source
		locked, unknown := lockedIn(b, objects)
		main.Locked, errs = locked, append(errs, unknown...)
		if version := b.Installed(); version != "" {
			main.Versions = []string{version}
		}
		if origin := originOf(in.origin(b.Application, b.Resolved.Resolved), b.Objects, objects); origin != "" {
			main.Origins = safeguard.Origins{origin}
		}
		keys := each.Map(b.Objects, func(o backend.Object) Object { return Object{Key: KeyOf(o), Role: o.Role} })
		all = append(all, Instance{
			Name: b.Name, Application: b.Application, Source: b.Decision.Source, Requested: b.Version, Version: b.Installed(),
			Backend: b.Backend, Main: main, Named: b.IsNamed(b.Resolved.Resolved) || b.IsNamed(b.Installed()),
			Objects: keys, Notes: b.Notes,
		})
	}
	if err := refusal.OfSpec("spec.instances", errs); err != nil {
		return nil, err
	}
	return all, nil
}

// originOf returns the origin of the chart of an instance: that in its definition, unless patches take the chart from elsewhere.
func originOf(defined string, objects, patched []backend.Object) string {
	address := func(o backend.Object) string {
		if o.Role == backend.Main {
			return o.Spec("chart", "spec", "sourceRef", "name").Text()
		}
		return o.Spec("url").Text()
	}
	all := defined
	for i, object := range objects {
		if to := address(patched[i]); to != address(object) {
			all += " " + to
		}
	}
	if defined == "" || all == defined {
		return defined
	}
	return identity.OriginOf(all)
}

// Supporting returns the keys of the objects besides the main ones.
func (in Installation) Supporting() []safeguard.Key {
	return each.Map(each.Where(in.Objects, func(o backend.Object) bool { return o.Role != backend.Main }), KeyOf)
}

// Targets returns the kinds of the objects that are not part of Kubernetes.
func (in Installation) Targets() []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, o := range in.Objects {
		if kind := o.GroupVersionKind(); kind.Group != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int { return cmp.Compare(a.String(), b.String()) })
	return kinds
}
