package render

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/tree"
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

// prove builds the tree without and with the patches, which is the only way to know their effect:
// each patch has to match an object, and the patched tree has to have the same objects by name. It
// returns the patched objects. Kustomize cannot be interrupted: prove checks the context before each build.
func prove(ctx context.Context, before, after *tree.Tree, patches []tree.Patch) (resmap.ResMap, error) {
	path := field.NewPath("spec", "patches")
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("building without the patches: %w", err)
	}
	unpatched, err := build(before)
	if err != nil {
		return nil, fmt.Errorf("building without the patches: %w", err)
	}
	for i, p := range patches {
		if err := matches(unpatched, p.Target); err != nil {
			return nil, &Error{Code: v1alpha1.InvalidSpecReason, Field: path.Index(i).String(), Err: err}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("building with the patches: %w", err)
	}
	patched, err := build(after)
	if err != nil {
		return nil, &Error{Code: v1alpha1.InvalidSpecReason, Field: path.String(), Err: fmt.Errorf("kustomize refuses the patches: %w", err)}
	}
	if lost := missing(unpatched, patched); len(lost) > 0 {
		return nil, &Error{Code: v1alpha1.InvalidSpecReason, Field: path.String(), Err: fmt.Errorf(
			"patches must not remove or rename objects, but these are gone: %s; use exclude", strings.Join(lost, ", "))}
	}
	if patched.Size() != unpatched.Size() {
		return nil, &Error{Code: v1alpha1.InvalidSpecReason, Field: path.String(), Err: errors.New("patches must not add objects")}
	}
	return patched, nil
}

// matches returns an error if the target selects no object. A patch without a target names its object
// itself, and kustomize refuses the patch if that object does not exist.
func matches(objects resmap.ResMap, target *tree.Target) error {
	if target == nil {
		return nil
	}
	found, err := objects.Select(types.Selector{
		ResId: resid.ResId{
			Gvk:  resid.Gvk{Group: target.Group, Version: target.Version, Kind: target.Kind},
			Name: target.Name, Namespace: target.Namespace,
		},
		LabelSelector:      target.LabelSelector,
		AnnotationSelector: target.AnnotationSelector,
	})
	if err != nil {
		return fmt.Errorf("the target cannot be read: %w", err)
	}
	if len(found) == 0 {
		return errors.New("the target matches no object of the artifact")
	}
	return nil
}

// missing returns the objects of before that after lacks, sorted.
func missing(before, after resmap.ResMap) []string {
	gone := map[string]bool{}
	for _, id := range before.AllIds() {
		gone[keyOf(id).String()] = true
	}
	for _, id := range after.AllIds() {
		delete(gone, keyOf(id).String())
	}
	return slices.Sorted(maps.Keys(gone))
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
