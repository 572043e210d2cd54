// SPDX-License-Identifier: Apache-2.0

// Package explained explains why an instance of a spec is installed as it is: the version, the values and where they come from. It
// renders the selection, as the facade does.
package explained

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/kkp"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/layers"
	"github.com/winnow-dev/winnow/render/selection"
)

// CatalogLayer is the layer of the default values that the definition in the catalog has.
const CatalogLayer = "catalog"

// Instance is an instance of a spec with the reasons for what is installed.
type Instance struct {
	// Name of the instance, and Application that it installs.
	Name, Application string
	// Decision on the application; nil if no source has it.
	Decision *selection.Decision
	// Choice of the version, and the selected versions that the spec allows; empty if the application is not
	// selected.
	Choice     instance.Choice
	Candidates []string
	// Unresolved is why it is not installed; nil if it is. Then the fields below are set.
	Unresolved *instance.Unresolved
	Instance   *installation.Instance
	// Deployed is how it is installed and upgraded; nil where its object does not state it.
	Deployed *backend.Deployed
	// Values, sorted by path, the names of their layers, the highest first, and the values that only the cluster has,
	// in their order.
	Values     []layers.Leaf
	Layers     []string
	References []Reference
}

// Reference names values of an instance that only the cluster has.
type Reference struct {
	v1alpha1.ValuesReference

	// OfDefinition is true if the definition names them, and not the spec.
	OfDefinition bool `json:"ofDefinition,omitempty"`
	// Winner is the layer that wins over the single value at TargetPath; empty if none does.
	Winner string `json:"winner,omitempty"`
}

// ErrNoInstance is returned for an instance that a spec does not have.
var ErrNoInstance = errors.New("spec.instances does not have it")

// Explain renders a selection, and explains its instance with the given name.
func Explain(ctx context.Context, sources []selection.Source, cs *v1alpha1.CatalogSelection, name string) (*Instance, error) {
	opts, err := render.FromSpec(cs)
	if err != nil {
		return nil, err
	}
	spec, found := each.First(opts.Instances, func(s instance.Spec) bool { return s.Name == name })
	if !found {
		return nil, ErrNoInstance
	}
	opts.AllowEmpty = true
	result, err := render.Render(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	out := &Instance{Name: name, Application: spec.Application, Instance: result.Find(name)}
	for _, d := range result.Selection.Decisions {
		if d.Application.Name == spec.Application && (out.Decision == nil || d.Selected) {
			out.Decision = &d
		}
	}
	if out.Decision != nil && out.Decision.Selected {
		out.Choice, out.Candidates = spec.Choose(*out.Decision)
	}
	if j := slices.IndexFunc(result.Unresolved, func(u instance.Unresolved) bool { return u.Name == name }); j >= 0 {
		out.Unresolved = &result.Unresolved[j]
		return out, nil
	}
	if err := out.explainValues(ctx, result, cs); err != nil {
		return nil, fmt.Errorf("reading the values of %s: %w", name, err)
	}
	return out, nil
}

// explainValues sets the values and where they come from.
func (e *Instance) explainValues(ctx context.Context, result *render.Result, cs *v1alpha1.CatalogSelection) error {
	in, err := e.layers(cs)
	if err != nil {
		return err
	}
	built, err := result.InstanceObjects(ctx, []string{e.Name})
	if err != nil {
		return err
	}
	// Every backend makes a main object.
	of, _ := each.First(e.Instance.Objects, func(o installation.Object) bool { return o.Role == backend.Main })
	main := backend.Object{Unstructured: &unstructured.Unstructured{Object: built[of.Key]}, Role: backend.Main}
	e.Deployed = backend.DeployedOf(main)
	e.References = e.references(main, cs.Spec.Instances[e.Name].ValuesFrom)
	in.References = each.Map(e.References, func(r Reference) string { return r.TargetPath })
	for i, reference := range e.References {
		e.References[i].Winner = in.Winner(reference.TargetPath)
	}
	for _, o := range e.Instance.Objects {
		raw, err := result.Unpatched(o.Key)
		if err != nil {
			return err
		}
		if err := read(raw, o.Role, &in.Built); err != nil {
			return err
		}
		if err := read(built[o.Key], o.Role, &in.Patched); err != nil {
			return err
		}
	}
	if e.Instance.Backend == backend.ApplicationInstallation {
		in.Inline, in.Defaults = slices.Concat(in.Inline, in.Defaults), nil // its object has one document of both
	}
	e.Values = layers.Explain(in)
	names := each.Map(slices.Concat(in.Inline, in.Defaults), func(layer layers.Layer) string { return layer.Name })
	e.Layers = append([]string{layers.Patches}, names...)
	return ctx.Err()
}

// read adds the values of an object.
func read(object kustomized.Object, role backend.Role, into *layers.Values) (err error) {
	o := backend.Object{Unstructured: &unstructured.Unstructured{Object: object}, Role: role}
	switch role {
	case backend.Main:
		into.Inline, err = backend.ValuesOf(o)
	case backend.Values:
		into.Defaults, err = backend.ValuesOf(o)
	}
	return err
}

// layers returns the layers of the values, without what the objects have.
func (e *Instance) layers(cs *v1alpha1.CatalogSelection) (layers.Input, error) {
	var in layers.Input
	definition, err := e.Decision.Application.Spec()
	if err != nil {
		return in, err
	}
	values, err := kkp.DefaultValues(definition)
	if err != nil {
		return in, err
	}
	var overrides, defaults []layers.Layer
	for i, rule := range cs.Spec.Values {
		if !slices.Contains(rule.Names, e.Application) {
			continue
		}
		layer := func(field string, from *apiextensionsv1.JSON) layers.Layer {
			values, invalid := instance.Values(from)
			err = cmp.Or(err, invalid)
			return layers.Layer{Name: fmt.Sprintf("spec.values[%d].%s", i, field), Values: values}
		}
		// Defaults fill what nothing before has set, overrides replace it.
		defaults = append(defaults, layer("defaults", rule.Defaults))
		overrides = slices.Insert(overrides, 0, layer("overrides", rule.Overrides))
		in.Inline = slices.Insert(in.Inline, 0, layer("instanceOverrides", rule.InstanceOverrides))
	}
	if err != nil {
		return in, err
	}
	own, err := instance.Values(cs.Spec.Instances[e.Name].Values)
	if err != nil {
		return in, err
	}
	in.Inline = append(in.Inline, layers.Layer{Name: fmt.Sprintf("spec.instances[%s].values", e.Name), Values: own})
	in.Defaults = slices.Concat(overrides, []layers.Layer{{Name: CatalogLayer, Values: values}}, defaults)
	return in, nil
}

// references returns the references that the main object passes on; given are the references of the spec.
func (e *Instance) references(main backend.Object, given []v1alpha1.ValuesReference) []Reference {
	passed := backend.ReferencesOf(main)
	if passed == nil {
		passed = given
	}
	var all []Reference
	for i, reference := range passed {
		isDefaults := slices.ContainsFunc(e.Instance.Objects, func(o installation.Object) bool {
			return o.Role == backend.Values && o.Key.Kind == reference.Kind && o.Key.Name == reference.Name
		})
		if !isDefaults {
			all = append(all, Reference{ValuesReference: reference, OfDefinition: i < len(passed)-len(given)})
		}
	}
	return all
}
