// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/contents"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/reserved"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/tree"
)

// Artifact is an artifact in a registry that was rendered before.
type Artifact struct {
	// Digest of the manifest.
	Digest string
	// Result is what was rendered, and nil if the artifact is another one: then Other is why.
	Result *Result
	Other  string
	// Origin has the revisions of the sources that it was rendered from, empty where these are not known.
	Origin string
}

// maxObjects bounds the objects of an artifact that is compared as a whole: kustomize takes minutes to build so many.
const maxObjects = 10_000

// ReadResult reads an artifact that was rendered before as the result of its render, to compare it with another one. It
// lacks what an artifact does not say: the sources and their decisions, and of instances all but the main objects. It has the
// bounds of ReadArtifact, and refuses more than 10,000 objects.
func ReadResult(ctx context.Context, r io.Reader) (*Result, error) {
	a, err := parseArtifact(ctx, r)
	if err != nil {
		return nil, err
	}
	if n := len(a.documents) + len(a.objects); n > maxObjects {
		return nil, fmt.Errorf("the artifact has %d objects, and at most %d are compared", n, maxObjects)
	}
	result := &Result{Revision: a.revision, Contents: contents.Definitions(a.others)}
	var main []safeguard.Definition
	if result.Definitions, main, err = a.defined(ctx); err != nil {
		return nil, err
	}
	for _, d := range main {
		in := installation.Instance{Name: d.Instance, Application: d.Application, Main: d, Objects: []installation.Object{{Key: d.Key(), Role: backend.Main}}}
		if len(d.Versions) > 0 {
			in.Version = d.Versions[0]
		}
		result.Instances = append(result.Instances, in)
	}
	count := len(result.Definitions) + len(result.Contents)
	result.Selection = selection.Result{Decisions: a.others, Available: count, Selected: count, Undecided: "the new artifact does not have it"}
	result.kustomization = tree.Kustomization{Patches: a.patches, AllowEmpty: true}
	a.annotate(&result.kustomization)
	if result.Tree, err = assembleWith(a.documents, a.objects, result.kustomization); err != nil {
		return nil, err
	}
	return result, a.checkWritten(result.kustomization, result.Tree)
}

// annotate adds the labels and the annotations of the artifact to a Kustomization, in the form in which Winnow writes them.
func (a artifact) annotate(k *tree.Kustomization) {
	k.Labels = map[string]string{}
	for _, label := range a.kustomization.Labels {
		maps.Copy(k.Labels, label.Pairs)
	}
	for _, inline := range a.kustomization.Transformers {
		var of struct {
			Kind        string
			Metadata    struct{ Name string }
			Annotations map[string]string
			FieldSpecs  []schema.GroupKind
		}
		if dialect.Unmarshal([]byte(inline), &of) != nil || of.Kind != "AnnotationsTransformer" {
			continue
		}
		if slices.Contains(of.FieldSpecs, schema.GroupKind{}) {
			k.Annotations = of.Annotations
			continue
		}
		k.KindAnnotations = append(k.KindAnnotations, tree.KindAnnotations{Name: of.Metadata.Name, Kinds: of.FieldSpecs, Annotations: of.Annotations})
	}
}

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
