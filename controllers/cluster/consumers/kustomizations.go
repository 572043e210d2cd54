// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/config"
	"github.com/winnow-dev/winnow/controllers/cluster/access"
	"github.com/winnow-dev/winnow/controllers/kinds"
)

// KustomizationKind is the kind of Kustomizations.
var KustomizationKind = kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind)

// Kustomizations reads the Kustomizations of this cluster. All exported fields are required.
type Kustomizations struct {
	*access.Access
}

// kind describes the watch of Kustomizations.
func (k *Kustomizations) kind() kinds.Kind {
	return kinds.Kind{
		GVK:       KustomizationKind,
		Object:    &kustomizev1.Kustomization{},
		Trim:      trimKustomization,
		Index:     indexKustomization,
		Concerned: k.concerned,
	}
}

func trimKustomization(o client.Object) {
	ks := o.(*kustomizev1.Kustomization)
	ks.ManagedFields, ks.Annotations = nil, nil
	if SelectionOf(ks) == (types.NamespacedName{}) {
		ks.Spec.Patches = nil // only the patches of consumers are read
	}
	ks.Spec.PostBuild, ks.Spec.HealthChecks, ks.Spec.HealthCheckExprs = nil, nil, nil
	ks.Status.Inventory, ks.Status.History = nil, nil
}

// indexKustomization returns the <namespace>/<name> of the selection whose artifact a Kustomization applies.
func indexKustomization(o client.Object) []string {
	selection := SelectionOf(o.(*kustomizev1.Kustomization))
	if selection == (types.NamespacedName{}) {
		return nil
	}
	return []string{selection.String()}
}

// SelectionOf returns the selection whose artifact a Kustomization applies; the zero name for another source.
func SelectionOf(ks *kustomizev1.Kustomization) types.NamespacedName {
	source := ks.Spec.SourceRef
	if source.Kind != sourcev1.ExternalArtifactKind {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: cmp.Or(source.Namespace, ks.Namespace), Name: source.Name}
}

// concerned returns the selections whose artifacts a Kustomization uses, or used, if a field changed that their status reports.
func (k *Kustomizations) concerned(_ context.Context, older, newer client.Object) []types.NamespacedName {
	a, _ := older.(*kustomizev1.Kustomization)
	b, _ := newer.(*kustomizev1.Kustomization)
	if a != nil && b != nil && a.Generation == b.Generation &&
		a.Status.LastAppliedRevision == b.Status.LastAppliedRevision &&
		a.Status.LastAttemptedRevision == b.Status.LastAttemptedRevision &&
		equality.Semantic.DeepEqual(a.Status.Conditions, b.Status.Conditions) {
		return nil
	}
	var concerned []types.NamespacedName
	for _, ks := range []*kustomizev1.Kustomization{a, b} {
		if ks == nil {
			continue
		}
		if selection := SelectionOf(ks); selection.Name != "" {
			concerned = append(concerned, selection)
		}
	}
	slices.SortFunc(concerned, CompareNames)
	return slices.Compact(concerned)
}

// CompareNames orders names by their texts.
func CompareNames(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) }

// Get reads a Kustomization from the API server, because the cache trims inventories; nil if it does
// not exist, or may not be read.
func (k *Kustomizations) Get(ctx context.Context, key types.NamespacedName) (*kustomizev1.Kustomization, error) {
	ks := &kustomizev1.Kustomization{}
	err := k.APIReader.Get(ctx, key, ks)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err), apimeta.IsNoMatchError(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the Kustomization %s: %w", key, err)
	}
	return ks, nil
}

// Each calls f for each Kustomization that applies to this cluster, read from the API server.
func (k *Kustomizations) Each(ctx context.Context, f func(*kustomizev1.Kustomization)) error {
	const page = 100
	var list kustomizev1.KustomizationList
	for {
		err := k.APIReader.List(ctx, &list, client.Limit(page), client.Continue(list.Continue))
		if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apimeta.IsNoMatchError(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("listing Kustomizations: %w", err)
		}
		for i := range list.Items {
			if ks := &list.Items[i]; ks.Spec.KubeConfig == nil {
				f(ks)
			}
		}
		if list.Continue == "" {
			return nil
		}
	}
}

// Of returns the Kustomizations that use the artifact of cs.
func (k *Kustomizations) Of(ctx context.Context, cs *v1alpha1.CatalogSelection) (Consumers, error) {
	reader, err := k.Kinds.Look(ctx, k.kind(), client.ObjectKeyFromObject(cs), false)
	if errors.Is(err, kinds.ErrForbidden) {
		k.ReportForbidden(ctx, cs, err, "the Kustomizations that apply the artifact are not known, so that there is no condition Applied, and conflicts with other selections are not found; "+config.GrantsRBAC)
	}
	if kinds.Settled(err) {
		return Consumers{}, nil
	}
	if err != nil {
		return Consumers{}, err
	}
	found := Consumers{Known: true, Namespace: cs.Namespace}
	for object := range reader.Find(client.ObjectKeyFromObject(cs).String()) {
		found.Items = append(found.Items, consumerOf(object.(*kustomizev1.Kustomization), RevisionOf(cs)))
	}
	slices.SortFunc(found.Items, func(a, b Consumer) int { return CompareNames(a.Key(), b.Key()) })
	return found, nil
}

// SelectionOf returns the selection whose artifact a Kustomization applies, according to the cache; the zero name if it is not known.
func (k *Kustomizations) SelectionOf(ctx context.Context, kustomization types.NamespacedName) types.NamespacedName {
	reader := k.Kinds.Readers()[KustomizationKind]
	ks := &kustomizev1.Kustomization{}
	if kustomization.Name == "" || reader == nil || reader.Get(ctx, kustomization, ks) != nil {
		return types.NamespacedName{}
	}
	return SelectionOf(ks)
}

// ActsHere reports whether the named Kustomization exists and applies to this cluster.
func (k *Kustomizations) ActsHere(ctx context.Context, cs *v1alpha1.CatalogSelection, name types.NamespacedName) (bool, error) {
	if name.Name == "" {
		return false, nil
	}
	reader, err := k.Kinds.Look(ctx, k.kind(), client.ObjectKeyFromObject(cs), false)
	if err != nil {
		return false, err
	}
	ks := &kustomizev1.Kustomization{}
	err = reader.Get(ctx, name, ks)
	return err == nil && ks.Spec.KubeConfig == nil, client.IgnoreNotFound(err)
}
