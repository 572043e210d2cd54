// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
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
			err = parse(ctx, document)(r, Origin{File: file.Path, Unapplied: file.Unapplied, Hidden: file.Hidden})
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

// AddObject adds an object that was decoded from YAML.
func (r *Set) AddObject(ctx context.Context, where Origin, object map[string]any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	add, known := r.Memo[string(text)]
	if !known {
		document, err := yaml.JSONToYAML(text)
		if err != nil {
			return err
		}
		add = parse(ctx, document)
		if r.Memo != nil {
			r.Memo[string(text)] = add
		}
	}
	return add(r, where)
}

// Memo has how objects are added, by their text in JSON: the clusters of a fleet have many in common.
type Memo map[string]func(*Set, Origin) error

// parse returns how a document is added, which may be added several times.
func parse(ctx context.Context, document []byte) func(*Set, Origin) error {
	fails := func(err error) func(*Set, Origin) error { return func(*Set, Origin) error { return err } }
	var object map[string]any
	if err := yaml.Unmarshal(document, &object); err != nil {
		return fails(err)
	}
	if items, isList := lists.Items(object); isList {
		return func(r *Set, where Origin) error { return r.items(ctx, where, items) }
	}
	var head metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(document, &head); err != nil {
		return fails(err)
	}
	group, _, _ := strings.Cut(head.APIVersion, "/")
	untouched := IsUntouched(&head)
	adds := func(add func(*Set, Origin)) func(*Set, Origin) error {
		return func(r *Set, where Origin) error {
			where.Untouched = untouched
			add(r, where)
			return nil
		}
	}
	switch {
	case containerKinds[head.Kind] && !guard.Kept(&head):
		return adds(func(r *Set, where Origin) {
			r.Containers = append(r.Containers, Container{where.Cluster, head.Kind, head.Name, AppliersOf(where)})
		})
	case group == sourcev1.GroupVersion.Group:
		source := newSource(head, document)
		return adds(func(r *Set, where Origin) {
			one := source
			one.Origin = where
			r.Sources = append(r.Sources, one)
		})
	case group == kustomizev1.GroupVersion.Group:
		consumer, err := consumerOf(document)
		if err != nil {
			return fails(err)
		}
		return adds(func(r *Set, where Origin) {
			one := consumer
			one.Origin = where
			r.Consumers = append(r.Consumers, one)
		})
	case group == v1alpha1.GroupVersion.Group && head.Kind == v1alpha1.CatalogSelectionKind:
		if !hasSources(document) {
			return fails(errors.New("a CatalogSelection without sources, such as a patch"))
		}
		cs, err := selectionfile.ParseDocument(ctx, document)
		if err != nil {
			cs = &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: head.Name, Namespace: head.Namespace}}
		}
		safeguards, _, _ := unstructured.NestedMap(object, "spec", "safeguards")
		return func(r *Set, where Origin) error {
			where.Untouched = untouched
			return r.add(Selection{cs.DeepCopy(), where, err, safeguards != nil})
		}
	}
	return fails(nil)
}

// items adds the items of a list.
func (r *Set) items(ctx context.Context, where Origin, items []any) error {
	var failures []error
	for i, item := range items {
		document, err := yaml.Marshal(item)
		if err == nil {
			err = parse(ctx, document)(r, where)
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

// consumerOf decodes a Kustomization. It has no origin yet.
func consumerOf(document []byte) (Consumer, error) {
	var k kustomizev1.Kustomization
	if err := yaml.Unmarshal(document, &k); err != nil {
		return Consumer{}, err
	}
	ref := k.Spec.SourceRef
	ref.Namespace = cmp.Or(ref.Namespace, k.Namespace)
	var raw struct {
		Spec map[string]any `json:"spec"`
	}
	if err := yaml.Unmarshal(document, &raw); err != nil {
		return Consumer{}, err
	}
	return Consumer{
		Name: k.Namespace + "/" + k.Name, Kind: ref.Kind, Artifact: ref.Namespace + "/" + ref.Name,
		Prune: k.Spec.Prune, Deletes: deletesOnRemoval(k), Spec: raw.Spec,
		Waits: k.Spec.Wait || len(k.Spec.HealthChecks) > 0, Renames: renamesOf(k), Moves: k.Spec.TargetNamespace != "",
	}, nil
}
