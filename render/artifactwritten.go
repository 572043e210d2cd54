// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/reserved"
	"github.com/winnow-dev/winnow/render/tree"
)

// checkWritten refuses an artifact if Flux may apply something else than what is read: its kustomization.yaml is what Winnow
// writes for its files, its objects belong to its instances, and nothing in it has a key that steers kustomize or Flux in
// another way than Winnow's. files are the files that were read, as Winnow names them.
func (a artifact) checkWritten(k tree.Kustomization, files *tree.Tree) error {
	if k.Resources = objectFiles(files); a.placeholders {
		k.Resources = append(k.Resources, placeholders)
	}
	written, err := k.Marshal()
	if err != nil {
		return err
	}
	if !bytes.Equal(written, a.written) {
		return errors.New("the " + tree.KustomizationFile + " of the artifact is not what Winnow writes for its files: " +
			"Flux may apply something else than what would be compared")
	}
	if err := a.checkObjects(); err != nil {
		return err
	}
	pairs := []map[string]string{k.Labels, k.Annotations}
	for _, of := range k.KindAnnotations {
		pairs = append(pairs, of.Annotations)
	}
	for _, object := range a.objects {
		pairs = append(pairs, object.GetLabels(), object.GetAnnotations())
	}
	return checkKeys(pairs)
}

// checkObjects returns an error for an object that is of no instance, or that is a list.
func (a artifact) checkObjects() error {
	var mains, others []backend.Object
	for _, object := range a.objects {
		if _, isList := object.Object[catalog.ItemsField]; isList {
			return fmt.Errorf("the artifact has the object %s with the field %s, by which Flux takes it for a list", installation.KeyOf(object), catalog.ItemsField)
		}
		if installation.MainOf(object.Object).Instance != "" && backends.Makes(object.GroupVersionKind().GroupKind()) {
			mains = append(mains, object)
		} else {
			others = append(others, object)
		}
	}
	for _, object := range others {
		if !backend.Belongs(object, mains) {
			return fmt.Errorf("the artifact has the object %s, which is of none of its instances", installation.KeyOf(object))
		}
	}
	return nil
}

// ownAnnotations are the annotations for Flux that Winnow sets, with their values.
var ownAnnotations = map[string][]string{
	ssaAnnotation: {"Merge", "IfNotPresent"}, substituteAnnotation: {"disabled"}, pruneAnnotation: {"disabled"},
}

// checkKeys returns an error for labels and annotations that steer kustomize or Flux, and are not Winnow's.
func checkKeys(pairs []map[string]string) error {
	for _, of := range pairs {
		for _, key := range slices.Sorted(maps.Keys(of)) {
			owner := reserved.OwnerOf(key)
			if owner == reserved.Kustomize || owner == reserved.Flux && !slices.Contains(ownAnnotations[key], of[key]) {
				return fmt.Errorf("the artifact sets %s: %s, which Winnow does not: %s", excerpt.Quoted(key), excerpt.Quoted(of[key]), owner.Reason())
			}
		}
	}
	return nil
}
