package takeover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Finding is about an object of the input. It contains text of the input, which is not trusted.
type Finding struct {
	Kind, Namespace, Name string
	// Text is why it was not taken, or what to know about it.
	Text string
}

// Result has what was taken of the input.
type Result struct {
	// Instances by name.
	Instances map[string]v1alpha1.Instance
	// Patches keep what instances cannot say.
	Patches []kustomize.Patch
	// Refused is what was not taken, and Warnings what changes about what was. Both are sorted by object.
	Refused, Warnings []Finding
}

// taker takes releases into a selection.
type taker struct {
	selection *v1alpha1.CatalogSelection
	sources   []selection.Source
	input     input
	published *published
	taken     map[string]*candidate
	refused   []Finding
}

// Take makes instances of the releases among the objects. The error is that of a selection that cannot be rendered, or
// of the context.
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

func (t *taker) refuse(o object, reason string) {
	t.refused = append(t.refused, Finding{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), Text: reason})
}

// candidates returns what is taken, sorted by name.
func (t *taker) candidates() []*candidate {
	all := slices.Collect(maps.Values(t.taken))
	slices.SortFunc(all, func(a, b *candidate) int { return strings.Compare(a.live.GetName(), b.live.GetName()) })
	return all
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

// refuseShared refuses releases of Helm that several objects of the input install.
func (t *taker) refuseShared() {
	owners := map[backend.Release]int{}
	for _, live := range t.input.releases {
		owners[releaseOf(live)]++
	}
	for _, c := range t.candidates() {
		if release := releaseOf(c.live); owners[release] > 1 {
			t.drop(c, fmt.Sprintf("several objects install the release %s in %s", excerpt.Of(release.Name), excerpt.Of(release.StorageNamespace)))
		}
	}
}

// releaseOf returns what tells a release from others.
func releaseOf(live object) backend.Release {
	release := live.identity().Release
	return backend.Release{StorageNamespace: release.StorageNamespace, Name: release.Name}
}

func (t *taker) drop(c *candidate, reason string) {
	t.refuse(c.live, reason)
	delete(t.taken, c.live.GetName())
}

// settle renders the selection with all instances until each is the live release: what is not is refused, and what an
// instance cannot say is patched. Every round refuses or patches something, or is the last one.
func (t *taker) settle(ctx context.Context) error {
	for len(t.taken) > 0 {
		t.setDependencies()
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
func (t *taker) check(ctx context.Context, built artifact, c *candidate) bool {
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
func (t *taker) render(ctx context.Context) (artifact, error) {
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
		return artifact{}, fmt.Errorf("with the imported instances the selection is not valid: %w", err)
	}
	result, err := render.Render(ctx, t.sources, options)
	if err != nil {
		return artifact{}, fmt.Errorf("rendering the selection with the imported instances: %w", err)
	}
	stream, err := render.Build(result.Tree)
	if err != nil {
		return artifact{}, err
	}
	return parse(stream)
}

// parse reads the stream of objects that kustomize builds.
func parse(stream []byte) (artifact, error) {
	a := artifact{objects: map[key]object{}, sources: input{sources: map[key]*object{}}}
	for document, err := range yamlnode.Documents(stream) {
		if err != nil {
			return a, err
		}
		content, err := yamlnode.Plain(document.Content[0])
		if err != nil {
			return a, err
		}
		if fields, ok := content.(map[string]any); ok {
			o := object{&unstructured.Unstructured{Object: fields}}
			a.objects[o.key()], a.sources.sources[o.key()] = o, &o
		}
	}
	return a, nil
}

// patches returns a patch for all candidates that need the same one.
func patches(namespace string, candidates ...*candidate) []kustomize.Patch {
	type group struct{ kind, patch string }
	named := map[group][]string{}
	for _, c := range candidates {
		if c.patch != nil {
			g := group{c.live.GetKind(), patchText(c)}
			named[g] = append(named[g], c.live.GetName())
		}
	}
	var all []kustomize.Patch
	for g, names := range named {
		version := kinds()[g.kind][0]
		all = append(all, kustomize.Patch{Patch: g.patch, Target: &kustomize.Selector{
			Group: version.Group, Kind: g.kind, Namespace: namespace, Name: strings.Join(names, "|"),
		}})
	}
	slices.SortFunc(all, func(a, b kustomize.Patch) int {
		return strings.Compare(a.Target.Kind+a.Target.Name, b.Target.Kind+b.Target.Name)
	})
	return all
}

// patchText returns the strategic merge patch of a candidate. Its name has no meaning beside the target.
func patchText(c *candidate) string {
	metadata, _ := c.patch["metadata"].(map[string]any)
	content := map[string]any{
		"apiVersion": c.live.GetAPIVersion(), "kind": c.live.GetKind(), "metadata": backend.MergeValues(metadata, map[string]any{"name": "any"}),
	}
	if spec := c.patch["spec"]; spec != nil {
		content["spec"] = spec
	}
	text, _ := yaml.Marshal(content) // JSON's types cannot fail
	return string(bytes.TrimSpace(text)) + "\n"
}
