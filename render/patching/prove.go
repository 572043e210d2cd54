package render

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/objectmeta"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/reserved"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/tree"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Build builds the tree with kustomize, as kustomize-controller does, and returns the objects
// as one YAML stream.
func Build(files *tree.Tree) ([]byte, error) {
	objects, err := build(files)
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}

// build recovers from panics of kustomize, because its input comes from users.
func build(files *tree.Tree) (objects resmap.ResMap, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("kustomize failed: %v", p)
		}
	}()
	memory := filesys.MakeFsInMemory()
	for _, path := range files.Paths() {
		content, _ := files.Content(path)
		if err := memory.WriteFile(path, content); err != nil {
			return nil, err
		}
	}
	return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, ".")
}

// prove builds the tree without and with the patches of k, which is the only way to know their effect: each patch has
// to match an object, and the patched tree, which is what Flux builds, has to have the selected objects and no others,
// whose reserved labels and annotations are those that k and their files set. It returns the patched objects. Kustomize
// cannot be interrupted: prove checks the context before each build.
func prove(ctx context.Context, selected []safeguard.Key, before, after *tree.Tree, k tree.Kustomization) (resmap.ResMap, error) {
	path := field.NewPath("spec", "patches")
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("building without the patches: %w", err)
	}
	unpatched, err := build(before)
	if err != nil {
		return nil, fmt.Errorf("building without the patches: %w", err)
	}
	if err := asSelected(selected, unpatched); err != nil {
		return nil, err
	}
	for i, p := range k.Patches {
		if err := matches(unpatched, p.Target); err != nil {
			return nil, &Error{Code: v1alpha1.InvalidSpecReason, Field: path.Index(i).String(), Err: err}
		}
	}
	if err := checkGrowth(unpatched, k.Patches); err != nil {
		return nil, &Error{Code: v1alpha1.InvalidSpecReason, Field: path.String(), Err: err}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("building with the patches: %w", err)
	}
	patched, err := build(after)
	if err != nil {
		return nil, &Error{Code: v1alpha1.InvalidSpecReason, Field: path.String(), Err: fmt.Errorf("kustomize refuses the patches: %w", err)}
	}
	err = errors.Join(sameObjects(unpatched, patched), listsNothing(patched), setsNoMetadata(patched), steersNothing(unpatched, patched, k))
	if err != nil {
		return nil, &Error{Code: v1alpha1.InvalidSpecReason, Field: path.String(), Err: err}
	}
	return patched, nil
}

// asSelected returns an error unless the objects are the selected ones.
func asSelected(selected []safeguard.Key, built resmap.ResMap) error {
	want, got := map[safeguard.Key]bool{}, map[safeguard.Key]bool{}
	for _, key := range selected {
		want[key] = true
	}
	for _, id := range built.AllIds() {
		got[keyOf(id)] = true
	}
	lost, added := lacking(want, got), lacking(got, want)
	if len(lost)+len(added) == 0 {
		return nil
	}
	return &Error{Code: v1alpha1.InvalidSpecReason, Err: fmt.Errorf(
		"kustomize does not build what is selected: it drops %s and adds %s", excerpt.Names(lost, maxReported), excerpt.Names(added, maxReported))}
}

// sameObjects returns an error unless patches keep the group, kind, namespace and name of each object. A namespace counts
// for definitions too: Flux tracks objects by it, and deletes the one that it knew by another.
func sameObjects(unpatched, patched resmap.ResMap) error {
	before, after := identities(unpatched), identities(patched)
	if lost := lacking(before, after); len(lost) > 0 {
		return fmt.Errorf("patches must not remove or rename objects, or move them to another namespace, but these are gone: %s; use exclude",
			excerpt.Names(lost, maxReported))
	}
	if added := lacking(after, before); len(added) > 0 {
		return fmt.Errorf("patches must not add objects, but these are new: %s", excerpt.Names(added, maxReported))
	}
	return nil
}

// listsNothing returns an error for the objects that patches make a list of. kustomize builds them still, but Flux applies
// their items instead, and deletes what it has applied before.
func listsNothing(patched resmap.ResMap) error {
	var lists []string
	for _, object := range patched.Resources() {
		if object.Field(catalog.ItemsField) != nil {
			lists = append(lists, keyOf(object.CurId()).String())
		}
	}
	if len(lists) == 0 {
		return nil
	}
	slices.Sort(lists)
	return fmt.Errorf("patches must not set the field %s, by which Flux takes an object for a list, of %s", catalog.ItemsField, excerpt.Names(lists, maxReported))
}

// setsNoMetadata returns an error for the metadata that patches set and catalogs may not: an owner that does not exist, for
// one, makes the garbage collector delete the object.
func setsNoMetadata(patched resmap.ResMap) error {
	var found []string
	for _, object := range patched.Resources() {
		for _, problem := range objectmeta.Problems(yamlnode.Lookup(object.YNode(), "metadata")) {
			found = append(found, fmt.Sprintf("%s: %s", keyOf(object.CurId()), problem))
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return fmt.Errorf("patches must not set what catalogs may not: %s", excerpt.Names(found, maxReported))
}

// identities returns what Flux tracks the objects by.
func identities(objects resmap.ResMap) map[safeguard.Key]bool {
	all := map[safeguard.Key]bool{}
	for _, id := range objects.AllIds() {
		all[identityOf(id)] = true
	}
	return all
}

func identityOf(id resid.ResId) safeguard.Key {
	return safeguard.Key{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}

// lacking returns the keys of a set that another one lacks, sorted.
func lacking(set, other map[safeguard.Key]bool) []string {
	var names []string
	for key := range set {
		if !other[key] {
			names = append(names, key.String())
		}
	}
	slices.Sort(names)
	return names
}

// steersNothing returns an error for the reserved labels and annotations that patches set. Those of k stay as they are,
// because kustomize sets them after the patches.
func steersNothing(unpatched, patched resmap.ResMap, k tree.Kustomization) error {
	before := map[safeguard.Key]*resource.Resource{}
	for _, object := range unpatched.Resources() {
		before[identityOf(object.CurId())] = object
	}
	var found []string
	for _, object := range patched.Resources() {
		was := before[identityOf(object.CurId())]
		if was == nil {
			continue // which sameObjects reports
		}
		annotations := k.AnnotationsOf(schema.GroupKind{Group: object.GetGvk().Group, Kind: object.GetKind()})
		for _, key := range slices.Concat(steered(object.GetLabels(), was.GetLabels(), k.Labels), steered(object.GetAnnotations(), was.GetAnnotations(), annotations)) {
			found = append(found, fmt.Sprintf("%s of %s (%s)", excerpt.Quoted(key), keyOf(object.CurId()), reserved.OwnerOf(key).Reason()))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("patches must not set reserved labels and annotations: %s", excerpt.Names(found, maxReported))
}

// steered returns the reserved keys whose value is neither that of the object before the patches nor the one that is set
// after them, sorted.
func steered(pairs, before, after map[string]string) []string {
	is := func(pairs map[string]string, key, value string) bool {
		had, ok := pairs[key]
		return ok && had == value
	}
	var keys []string
	for key, value := range pairs {
		if reserved.OwnerOf(key) != "" && !is(before, key, value) && !is(after, key, value) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// matches returns an error if the target selects no object. A patch without a target names its object
// itself, and kustomize refuses the patch if that object does not exist.
func matches(objects resmap.ResMap, target *tree.Target) error {
	if target == nil {
		return nil
	}
	found, err := selectedBy(objects, target)
	if err == nil && len(found) == 0 {
		err = errors.New("the target matches no object of the artifact")
	}
	return err
}

// selectedBy returns the objects that a target selects.
func selectedBy(objects resmap.ResMap, target *tree.Target) ([]*resource.Resource, error) {
	found, err := objects.Select(types.Selector{
		ResId: resid.ResId{
			Gvk:  resid.Gvk{Group: target.Group, Version: target.Version, Kind: target.Kind},
			Name: target.Name, Namespace: target.Namespace,
		},
		LabelSelector:      target.LabelSelector,
		AnnotationSelector: target.AnnotationSelector,
	})
	if err != nil {
		return nil, fmt.Errorf("the target cannot be read: %w", err)
	}
	return found, nil
}

func keyOf(id resid.ResId) safeguard.Key {
	return safeguard.KeyOf(id.Group, id.Kind, id.Namespace, id.Name)
}

// contents returns the content of the objects.
func contents(objects resmap.ResMap) map[safeguard.Key]Object {
	all := map[safeguard.Key]Object{}
	for _, object := range objects.Resources() {
		if content, err := object.Map(); err == nil {
			all[keyOf(object.CurId())] = content
		}
	}
	return all
}

// builtDefinitions returns the definitions among the objects.
func builtDefinitions(objects map[safeguard.Key]Object) map[safeguard.Key]safeguard.Definition {
	definitions := map[safeguard.Key]safeguard.Definition{}
	for key, content := range objects {
		if key.IsDefinition() {
			definitions[key] = safeguard.DefinitionOf(content)
		}
	}
	return definitions
}
