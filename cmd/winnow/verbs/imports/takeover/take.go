// SPDX-License-Identifier: Apache-2.0

// Package takeover makes instances of a CatalogSelection of what runs already: HelmReleases of Flux and
// ApplicationInstallations of KKP. It takes a release only if the artifact would have the same object, with the same
// release of Helm and the same chart, so that nothing is installed anew.
//
// It reads its arguments, and must not know clusters, files or flags. Its messages never quote a value of an object.
package takeover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Take makes instances of the releases among the objects. The error is of a selection that cannot be rendered, or of the
// context.
func Take(ctx context.Context, objects []map[string]any, cs *v1alpha1.CatalogSelection, sources []selection.Source) (*Result, error) {
	t := &taker{selection: cs.DeepCopy(), sources: sources, taken: map[string]*candidate{}}
	t.selection.Spec.Provenance = "" // it changes annotations only, and catalogs in directories have no digest
	t.input = newInput(objects, t.refuse)
	var err error
	if t.published, err = publish(ctx, t.selection, sources); err != nil {
		return nil, err
	}
	for _, live := range t.input.releases {
		if err := t.take(ctx, live); err != nil {
			return nil, err
		}
	}
	t.refuseShared()
	t.refuseCycles()
	if err := t.settle(ctx); err != nil {
		return nil, err
	}
	return t.result(), nil
}

// take adds a release if an instance of its own can be built of it.
func (t *taker) take(ctx context.Context, live object) error {
	c, err := t.candidate(live)
	if err == nil {
		err = t.build(ctx, c)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		t.refuse(live, firstLine(err))
		return nil
	}
	if other := t.taken[live.GetName()]; other != nil {
		t.refuse(live, fmt.Sprintf("the %s of the same name would be the same instance", other.live.GetKind()))
		t.refuse(other.live, fmt.Sprintf("the %s of the same name would be the same instance", live.GetKind()))
		delete(t.taken, live.GetName())
		return nil
	}
	t.taken[live.GetName()] = c
	return nil
}

// firstLine returns the first of several joined errors.
func firstLine(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	const most = 400
	return excerpt.To(first, most)
}

// build renders an instance alone, with its patch, so that an error is about it.
func (t *taker) build(ctx context.Context, c *candidate) error {
	alone := t.selection.DeepCopy()
	alone.Spec.Patches, alone.Spec.Definitions = patches(c.live.GetNamespace(), c), v1alpha1.DefinitionsOmit
	one := c.instance
	one.DependsOn = nil // there are no others
	alone.Spec.Instances = map[string]v1alpha1.Instance{c.live.GetName(): one}
	options, err := render.FromSpec(alone)
	if err != nil {
		return err
	}
	result, err := render.Render(ctx, only(c.instance.Application, t.sources), options)
	if err == nil && len(result.Unresolved) > 0 {
		err = errors.New(result.Unresolved[0].Reason)
	}
	return err
}

// only returns the sources with nothing but an application.
func only(application string, sources []selection.Source) []selection.Source {
	reduced := slices.Clone(sources)
	for i, source := range sources {
		if source.Catalog == nil {
			continue
		}
		content := *source.Catalog
		content.Applications = slices.DeleteFunc(slices.Clone(content.Applications), func(a *catalog.Application) bool { return a.Name != application })
		reduced[i].Catalog = &content
	}
	return reduced
}

// refuseShared refuses releases of Helm that several objects of the input install, or an instance of the selection.
func (t *taker) refuseShared() {
	for _, c := range t.candidates() {
		for _, release := range releasesOf(c.live) {
			what := fmt.Sprintf("the release %s in %s", excerpt.Of(release.Name), excerpt.Of(release.Namespace))
			if name, taken := t.published.releases[release]; taken {
				t.drop(c, fmt.Sprintf("the instance %s of the selection installs %s", excerpt.Of(name), what))
				break
			}
			if t.input.owners[release] > 1 {
				t.drop(c, "several objects install "+what)
				break
			}
		}
	}
}

// settle renders the selection with all instances until each is the live release: what is not is refused, and what an
// instance cannot say is patched. Every round refuses or patches something, or is the last one.
func (t *taker) settle(ctx context.Context) error {
	for len(t.taken) > 0 {
		for _, c := range t.taken {
			c.instance.DependsOn = each.Where(c.dependencies(), t.isHelm)
		}
		if t.enforceLimits() {
			continue
		}
		built, err := t.render(ctx)
		if err != nil {
			return err
		}
		changed := false
		for _, c := range t.candidates() {
			changed = t.check(ctx, built, c) || changed
		}
		if !changed {
			return nil
		}
	}
	return nil
}

// check compares a candidate with the artifact, and reports whether that has to be rendered again.
func (t *taker) check(ctx context.Context, built objectsByKey, c *candidate) bool {
	found, err := built.compare(c)
	switch {
	case err != nil:
		t.drop(c, err.Error())
		return true
	case found.patch != nil && c.patch != nil:
		t.drop(c, "a patch of the selection changes what it has in "+fieldsOf(found.patch))
		return true
	case found.patch != nil:
		c.patch = found.patch
		if err := t.build(ctx, c); err != nil && ctx.Err() == nil {
			t.drop(c, "its "+fieldsOf(found.patch)+" cannot be patched: the object is not valid") // the error may quote a value
		}
		return true
	}
	c.found = found
	return false
}

// render renders the selection with the candidates.
func (t *taker) render(ctx context.Context) (objectsByKey, error) {
	with := t.selection.DeepCopy()
	if with.Spec.Instances == nil {
		with.Spec.Instances = map[string]v1alpha1.Instance{}
	}
	for name, c := range t.taken {
		with.Spec.Instances[name] = c.instance
	}
	with.Spec.Patches = append(with.Spec.Patches, patches(with.Namespace, t.candidates()...)...)
	options, err := render.FromSpec(with)
	if err != nil {
		return nil, fmt.Errorf("with the imported instances the selection is not valid: %w", err)
	}
	result, err := render.Render(ctx, t.sources, options)
	if err != nil {
		return nil, fmt.Errorf("rendering the selection with the imported instances: %w", err)
	}
	stream, err := kustomized.YAML(result.Tree)
	if err != nil {
		return nil, err
	}
	return parse(stream)
}

// parse reads the stream of objects that kustomize builds.
func parse(stream []byte) (objectsByKey, error) {
	all := objectsByKey{}
	for document, err := range yamlnode.Documents(stream) {
		if err != nil {
			return nil, err
		}
		content, err := yamlnode.Plain(document.Content[0])
		if err != nil {
			return nil, err
		}
		if fields, ok := content.(map[string]any); ok {
			o := object{&unstructured.Unstructured{Object: fields}}
			all[o.key()] = o
		}
	}
	return all, nil
}

// Most members of a CatalogSelection, as its definition says.
const (
	maxInstances    = 256
	maxPatches      = 64
	maxDependencies = 32
)

// enforceLimits refuses what a selection has no room for, the last by name, and reports whether there is something.
func (t *taker) enforceLimits() bool {
	before := len(t.refused)
	for _, c := range slices.Backward(t.candidates()) {
		switch {
		case len(t.selection.Spec.Instances)+len(t.taken) > maxInstances:
			t.drop(c, fmt.Sprintf("the selection would have more than %d instances: import it into another one", maxInstances))
		case len(c.instance.DependsOn) > maxDependencies:
			t.drop(c, fmt.Sprintf("it depends on more than %d instances", maxDependencies))
		case c.patch != nil && len(t.selection.Spec.Patches)+len(patches(t.selection.Namespace, t.candidates()...)) > maxPatches:
			t.drop(c, fmt.Sprintf("it needs a patch, and the selection would have more than %d: import it into another one", maxPatches))
		}
	}
	return len(t.refused) > before
}
