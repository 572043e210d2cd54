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
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/guard"
)

// MayBeRelevant reports whether a file may have what a Set has, before it is parsed.
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
	for document, err := range dialect.Documents(file.Content) {
		i++
		if err == nil && MayBeRelevant(document) {
			err = r.Add(ctx, Origin{File: file.Path, Unapplied: file.Unapplied, Hidden: file.Hidden}, Parse(ctx, document))
		}
		if err != nil && (isRelevant(document) || dialect.Unmarshal(document, new(any)) == nil) {
			left := Skipped{file.Path, string(document), i, err}
			if file.Unapplied {
				r.Notes = append(r.Notes, left.Note(""))
			} else {
				r.Skipped = append(r.Skipped, left)
			}
		}
	}
}

// Document is what a document has.
type Document struct {
	untouched bool
	// content is a Container, a Source, a Consumer or a Selection without an origin, or the items of a list; nil for a document that
	// matters to nobody.
	content any
	err     error
}

// Parse reads a document, in YAML or JSON.
func Parse(ctx context.Context, text []byte) *Document {
	document, err := dialect.Kustomize(text) // what kustomize refuses is read as well as it can be
	if document == nil {
		return &Document{err: err}
	}
	var object map[string]any
	if err := json.Unmarshal(document, &object); err != nil {
		return &Document{err: err}
	}
	if items, isList := dialect.Items(object); isList {
		return &Document{content: items}
	}
	var head metav1.PartialObjectMetadata
	if err := json.Unmarshal(document, &head); err != nil {
		return &Document{err: err}
	}
	p := &Document{untouched: IsUntouched(&head)}
	group, _, _ := strings.Cut(head.APIVersion, "/")
	switch {
	case containerKinds[head.Kind] && !guard.Kept(&head):
		p.content = Container{Kind: head.Kind, Name: head.Name}
	case group == sourcev1.GroupVersion.Group:
		p.content = newSource(head, document)
	case group == kustomizev1.GroupVersion.Group:
		p.content, p.err = newConsumer(document)
	case group == v1alpha1.GroupVersion.Group && head.Kind == v1alpha1.CatalogSelectionKind:
		if !hasSources(document) {
			return &Document{err: errors.New("a CatalogSelection without sources, such as a patch")}
		}
		cs, err := selectionfile.ParseDocument(ctx, text)
		if err != nil {
			cs = &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: head.Name, Namespace: head.Namespace}}
		}
		p.content = Selection{CatalogSelection: cs, Invalid: err}
	}
	return p
}

// Add adds what a document has, with its origin.
func (r *Set) Add(ctx context.Context, where Origin, p *Document) error {
	if p.err != nil {
		return p.err
	}
	where.Untouched = p.untouched
	switch content := p.content.(type) {
	case []any:
		return r.items(ctx, where, content)
	case Container:
		content.Cluster, content.Appliers = where.Cluster, AppliersOf(where)
		r.Containers = append(r.Containers, content)
	case Source:
		content.Origin = where
		r.Sources = append(r.Sources, content)
	case Consumer:
		content.Origin = where
		r.Consumers = append(r.Consumers, content)
	case Selection:
		content.CatalogSelection, content.Origin = content.DeepCopy(), where
		return r.addSelection(content)
	}
	return nil
}

// items adds the items of a list.
func (r *Set) items(ctx context.Context, where Origin, items []any) error {
	var failures []error
	for i, item := range items {
		document, err := json.Marshal(item)
		if err == nil {
			err = r.Add(ctx, where, Parse(ctx, document))
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
	return json.Unmarshal(document, &cs) != nil || cs.Spec.Sources != nil
}

func (r *Set) addSelection(cs Selection) error {
	for _, other := range r.Selections {
		if other.Cluster == cs.Cluster && (cs.Cluster != "" || other.File == cs.File) && SameName(other, cs) {
			return fmt.Errorf("a second CatalogSelection %s", cs.Name)
		}
	}
	r.Selections = append(r.Selections, cs)
	return nil
}

// newConsumer decodes a Kustomization. It has no origin yet.
func newConsumer(document []byte) (Consumer, error) {
	var k kustomizev1.Kustomization
	var raw struct {
		Spec map[string]any `json:"spec"`
	}
	if err := json.Unmarshal(document, &k); err != nil {
		return Consumer{}, err
	}
	if err := json.Unmarshal(document, &raw); err != nil {
		return Consumer{}, err
	}
	ref := k.Spec.SourceRef
	return Consumer{
		Name: k.Namespace + "/" + k.Name, Kind: ref.Kind,
		SourceName: types.NamespacedName{Namespace: cmp.Or(ref.Namespace, k.Namespace), Name: ref.Name},
		Prune:      k.Spec.Prune, Deletes: deletesOnRemoval(k), Spec: raw.Spec,
		Waits: k.Spec.Wait || len(k.Spec.HealthChecks) > 0, Renames: renamesOf(k), Moves: k.Spec.TargetNamespace != "",
	}, nil
}
