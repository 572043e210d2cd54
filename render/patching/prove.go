// SPDX-License-Identifier: Apache-2.0

package patching

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/kustomize/api/resource"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog/objectmeta"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/reserved"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/tree"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Prove builds the files of a tree with the patches of k, which is the only way to know their effect: each patch has
// to match an object, and what is built, which is what Flux builds, has to have the selected objects and no others,
// whose reserved labels and annotations are those that k and their files set. It returns the patched objects. Kustomize
// cannot be interrupted: Prove checks the context between parts of the build.
func Prove(ctx context.Context, selected []safeguard.Key, files *tree.Tree, paths []string, k tree.Kustomization) (Objects, error) {
	path := field.NewPath("spec", "patches")
	split, err := NewSplit(ctx, files, paths, k.Patches)
	if err != nil {
		return nil, refused(ctx, path, err)
	}
	unpatched := split.Unpatched
	if err := asSelected(selected, unpatched); err != nil {
		return nil, err
	}
	for i, p := range k.Patches {
		if err := errors.Join(matches(unpatched, p.Target), split.CheckNamed(i)); err != nil {
			return nil, &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: path.Index(i).String(), Err: err}
		}
	}
	if err := CheckGrowth(unpatched, k.Patches); err != nil {
		return nil, &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: path.String(), Err: err}
	}
	patched, err := split.Build(ctx, k)
	if err != nil {
		return nil, refused(ctx, path, fmt.Errorf("kustomize refuses the patches: %w", err))
	}
	err = errors.Join(CheckObjects(unpatched, patched), setsNoMetadata(patched), steersNothing(unpatched, patched, k))
	if err != nil {
		return nil, &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: path.String(), Err: err}
	}
	return patched, nil
}

// refused returns the error of the context if it has ended, and otherwise a refusal with the error of the build.
func refused(ctx context.Context, path *field.Path, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("building with the patches: %w", ctx.Err())
	}
	return &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: path.String(), Err: errors.New(excerpt.To(err.Error(), maxReported))}
}

// maxReported bounds an error of kustomize, which quotes patches, in bytes.
const maxReported = 1000

// asSelected returns an error unless the objects are the selected ones.
func asSelected(selected []safeguard.Key, built Objects) error {
	want := sets.New(selected...)
	got := sets.New(each.Map(built.All(), func(o *resource.Resource) safeguard.Key { return kustomized.KeyOf(o.CurId()) })...)
	lost, added := lacking(want, got), lacking(got, want)
	if len(lost)+len(added) == 0 {
		return nil
	}
	return &refusal.Error{Code: v1alpha1.InvalidSpecReason, Err: fmt.Errorf(
		"kustomize does not build what is selected: it drops %s and adds %s", excerpt.Names(lost, refusal.MaxListed), excerpt.Names(added, refusal.MaxListed))}
}

// setsNoMetadata returns an error for the metadata that patches set and catalogs may not: an owner that does not exist, for
// one, makes the garbage collector delete the object.
func setsNoMetadata(patched Objects) error {
	var found []string
	for _, object := range patched.All() {
		for _, problem := range objectmeta.Problems(yamlnode.Lookup(object.YNode(), "metadata")) {
			found = append(found, fmt.Sprintf("%s: %s", kustomized.KeyOf(object.CurId()), problem))
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return fmt.Errorf("patches must not set what catalogs may not: %s", excerpt.Names(found, refusal.MaxListed))
}

// steersNothing returns an error for the reserved labels and annotations that patches set. The ones of k stay as they
// are, because kustomize sets them after the patches.
func steersNothing(unpatched, patched Objects, k tree.Kustomization) error {
	before := map[safeguard.Key]*resource.Resource{}
	for _, object := range unpatched.All() {
		before[identityOf(object.CurId())] = object
	}
	var found []string
	for _, object := range patched.All() {
		was := before[identityOf(object.CurId())]
		if was == nil {
			continue // which CheckObjects reports
		}
		annotations := k.AnnotationsOf(schema.GroupKind{Group: object.GetGvk().Group, Kind: object.GetKind()})
		for _, key := range slices.Concat(steered(object.GetLabels(), was.GetLabels(), k.Labels), steered(object.GetAnnotations(), was.GetAnnotations(), annotations)) {
			found = append(found, fmt.Sprintf("%s of %s (%s)", excerpt.Quoted(key), kustomized.KeyOf(object.CurId()), reserved.OwnerOf(key).Reason()))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("patches must not set reserved labels and annotations: %s", excerpt.Names(found, refusal.MaxListed))
}

// steered returns the reserved keys whose value neither the object had before the patches nor kustomize sets after them,
// sorted.
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
