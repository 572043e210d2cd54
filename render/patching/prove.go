// SPDX-License-Identifier: Apache-2.0

package patching

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog/objectmeta"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/reserved"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/tree"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Prove builds the tree without and with the patches of k, which is the only way to know their effect: each patch has
// to match an object, and the patched tree, which is what Flux builds, has to have the selected objects and no others,
// whose reserved labels and annotations are those that k and their files set. It returns the patched objects. Kustomize
// cannot be interrupted: Prove checks the context before each build.
func Prove(ctx context.Context, selected []safeguard.Key, before, after *tree.Tree, k tree.Kustomization) (resmap.ResMap, error) {
	path := field.NewPath("spec", "patches")
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("building without the patches: %w", err)
	}
	unpatched, err := kustomized.Build(before)
	if err != nil {
		return nil, fmt.Errorf("building without the patches: %w", err)
	}
	if err := asSelected(selected, unpatched); err != nil {
		return nil, err
	}
	for i, p := range k.Patches {
		if err := matches(unpatched, p.Target); err != nil {
			return nil, &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: path.Index(i).String(), Err: err}
		}
	}
	if err := CheckGrowth(unpatched, k.Patches); err != nil {
		return nil, &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: path.String(), Err: err}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("building with the patches: %w", err)
	}
	patched, err := kustomized.Build(after)
	if err != nil {
		return nil, &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: path.String(), Err: fmt.Errorf("kustomize refuses the patches: %s", excerpt.To(err.Error(), maxReported))}
	}
	err = errors.Join(CheckObjects(unpatched, patched), setsNoMetadata(patched), steersNothing(unpatched, patched, k))
	if err != nil {
		return nil, &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: path.String(), Err: err}
	}
	return patched, nil
}

// maxReported bounds an error of kustomize, which quotes patches, in bytes.
const maxReported = 1000

// asSelected returns an error unless the objects are the selected ones.
func asSelected(selected []safeguard.Key, built resmap.ResMap) error {
	want, got := map[safeguard.Key]bool{}, map[safeguard.Key]bool{}
	for _, key := range selected {
		want[key] = true
	}
	for _, id := range built.AllIds() {
		got[kustomized.KeyOf(id)] = true
	}
	lost, added := lacking(want, got), lacking(got, want)
	if len(lost)+len(added) == 0 {
		return nil
	}
	return &refusal.Error{Code: v1alpha1.InvalidSpecReason, Err: fmt.Errorf(
		"kustomize does not build what is selected: it drops %s and adds %s", excerpt.Names(lost, refusal.MaxListed), excerpt.Names(added, refusal.MaxListed))}
}

// setsNoMetadata returns an error for the metadata that patches set and catalogs may not: an owner that does not exist, for
// one, makes the garbage collector delete the object.
func setsNoMetadata(patched resmap.ResMap) error {
	var found []string
	for _, object := range patched.Resources() {
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
