// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/lists"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/render/guard"
)

// MayBeRelevant reports whether a file may have what a Revision holds, before it is parsed.
func MayBeRelevant(content []byte) bool { return Mentions(content) || isRelevant(content) }

func isRelevant(content []byte) bool {
	has := func(word string) bool { return bytes.Contains(content, []byte(word)) }
	return slices.ContainsFunc([]string{v1alpha1.CatalogSelectionKind, sourcev1.GroupVersion.Group, sourcev1.ExternalArtifactKind}, has) ||
		has(kustomizev1.GroupVersion.Group) && has(sourcev1.OCIRepositoryKind)
}

// Read adds the documents of a file.
func (r *Set) Read(ctx context.Context, file File) {
	if r.files == nil {
		r.files = map[string][]byte{}
	}
	r.files[file.Path] = file.Content
	i := 0
	for document, err := range lists.Documents(file.Content) {
		i++
		if err == nil && MayBeRelevant(document) {
			err = r.Add(ctx, Origin{File: file.Path, Unapplied: file.Unapplied, Hidden: file.Hidden}, document)
		}
		if err != nil && (isRelevant(document) || yaml.Unmarshal(document, new(any)) == nil) {
			left := Skipped{file.Path, string(document), i, err}
			if file.Unapplied {
				r.Notes = append(r.Notes, left.Note(""))
			} else {
				r.Skipped = append(r.Skipped, left)
			}
		}
	}
}

// Add adds a document, whose objects have an origin: what none of the fields is for is left out.
func (r *Set) Add(ctx context.Context, where Origin, document []byte) error {
	var object map[string]any
	if err := yaml.Unmarshal(document, &object); err != nil {
		return err
	}
	if items, isList := lists.Items(object); isList {
		return r.items(ctx, where, items)
	}
	var head metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(document, &head); err != nil {
		return err
	}
	group, _, _ := strings.Cut(head.APIVersion, "/")
	where.Untouched = IsUntouched(&head)
	switch {
	case containerKinds[head.Kind] && !guard.Kept(&head):
		r.Containers = append(r.Containers, Container{where.Cluster, head.Kind, head.Name, AppliersOf(where)})
	case group == sourcev1.GroupVersion.Group:
		r.Sources = append(r.Sources, Source{head, where, string(document)})
	case group == kustomizev1.GroupVersion.Group:
		return r.consumer(where, document)
	case group == v1alpha1.GroupVersion.Group && head.Kind == v1alpha1.CatalogSelectionKind:
		if !hasSources(document) {
			return errors.New("a CatalogSelection without sources, such as a patch")
		}
		cs, err := selectionfile.ParseDocument(ctx, document)
		if err != nil {
			cs = &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: head.Name, Namespace: head.Namespace}}
		}
		safeguards, _, _ := unstructured.NestedMap(object, "spec", "safeguards")
		return r.add(Selection{cs, where, err, safeguards != nil})
	}
	return nil
}

// items adds the items of a list.
func (r *Set) items(ctx context.Context, where Origin, items []any) error {
	var failures []error
	for i, item := range items {
		document, err := yaml.Marshal(item)
		if err == nil {
			err = r.Add(ctx, where, document)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("item %d: %w", i+1, err))
		}
	}
	return errors.Join(failures...)
}

func hasSources(document []byte) bool {
	var cs struct {
		Spec struct {
			Sources any `json:"sources"`
		} `json:"spec"`
	}
	return yaml.Unmarshal(document, &cs) != nil || cs.Spec.Sources != nil
}

func (r *Set) add(cs Selection) error {
	for _, other := range r.Selections {
		if other.Cluster == cs.Cluster && (cs.Cluster != "" || other.File == cs.File) && SameName(other, cs) {
			return fmt.Errorf("a second CatalogSelection %s", cs.Name)
		}
	}
	r.Selections = append(r.Selections, cs)
	return nil
}

// consumer adds a Kustomization.
func (r *Set) consumer(where Origin, document []byte) error {
	var k kustomizev1.Kustomization
	if err := yaml.Unmarshal(document, &k); err != nil {
		return err
	}
	ref := k.Spec.SourceRef
	ref.Namespace = cmp.Or(ref.Namespace, k.Namespace)
	var raw struct {
		Spec map[string]any `json:"spec"`
	}
	if err := yaml.Unmarshal(document, &raw); err != nil {
		return err
	}
	r.Consumers = append(r.Consumers, Consumer{
		Origin: where, Name: k.Namespace + "/" + k.Name, Kind: ref.Kind, Artifact: ref.Namespace + "/" + ref.Name,
		Prune: k.Spec.Prune, Deletes: deletesOnRemoval(k), Spec: raw.Spec,
		Waits: k.Spec.Wait || len(k.Spec.HealthChecks) > 0, Renames: renamesOf(k), Moves: k.Spec.TargetNamespace != "",
	})
	return nil
}
