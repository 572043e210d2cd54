// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/opencontainers/go-digest"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Applied returns the Kustomizations of a cluster that apply artifacts which Winnow has rendered, and the definitions with its
// label or in their inventories. It lists Kustomizations, OCIRepositories and definitions.
func (c *Cluster) Applied(ctx context.Context) ([]receipt.Kustomization, []receipt.Definition, error) {
	others, err := c.otherSources(ctx)
	if err != nil {
		return nil, nil, err
	}
	kustomizations, err := All[kustomizev1.Kustomization](ctx, c, kustomizationKind, "")
	if err != nil {
		return nil, nil, err
	}
	var applied []receipt.Kustomization
	for _, k := range kustomizations {
		if found := appliedBy(k); k.Spec.SourceRef.Kind == sourcev1.OCIRepositoryKind && !others[found.Source] {
			applied = append(applied, found)
		}
	}
	var managed []receipt.Definition
	err = c.definitions(ctx, applied, func(object *unstructured.Unstructured, isApplied bool) {
		left := guard.LeftoverOf(object, isApplied)
		managed = append(managed, receipt.Definition{
			APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Name: object.GetName(), Versions: safeguard.Versions(object.Object),
			Bypassed: left.Bypassed, BypassedSince: left.BypassedSince,
		})
	})
	return applied, managed, err
}

// otherSources returns the full names of the OCIRepositories whose artifact has another origin: source-controller copies the
// annotations of a manifest. One without an artifact is not among them.
func (c *Cluster) otherSources(ctx context.Context) (map[string]bool, error) {
	repositories, err := All[sourcev1.OCIRepository](ctx, c, kinds.OCIRepository, "")
	if err != nil {
		return nil, err
	}
	others := map[string]bool{}
	for _, o := range repositories {
		if a := o.Status.Artifact; a != nil && a.Metadata[v1alpha1.SelectionAnnotation] == "" {
			others[o.Namespace+"/"+o.Name] = true
		}
	}
	return others, nil
}

var kustomizationKind = kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind)

// All returns the objects of a kind with the labels of a selector, and none of a kind that the cluster does not serve.
func All[T any](ctx context.Context, c *Cluster, gvk schema.GroupVersionKind, labels string) (all []*T, err error) {
	objects, err := c.listBy(ctx, c.objects, gvk, metav1.ListOptions{LabelSelector: labels})
	for i := range objects {
		object, err := decode[T](&objects[i])
		if err != nil {
			return nil, err
		}
		all = append(all, object)
	}
	return all, err
}

func decode[T any](object *unstructured.Unstructured) (*T, error) {
	decoded := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, decoded); err != nil {
		return nil, fmt.Errorf("decoding the %s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
	}
	return decoded, nil
}

func appliedBy(k *kustomizev1.Kustomization) receipt.Kustomization {
	namespace := cmp.Or(k.Spec.SourceRef.Namespace, k.Namespace)
	applied := receipt.Kustomization{
		Namespace: k.Namespace, Name: k.Name, Source: namespace + "/" + k.Spec.SourceRef.Name,
		Origin: k.Status.LastAppliedOriginRevision, Ready: metav1.ConditionUnknown,
	}
	if k.Status.Inventory != nil {
		for _, entry := range k.Status.Inventory.Entries {
			applied.Objects = append(applied.Objects, entry.ID)
		}
	}
	for field, isSet := range map[string]bool{
		"components": len(k.Spec.Components) > 0, "patches": len(k.Spec.Patches) > 0, "namePrefix": k.Spec.NamePrefix != "",
		"nameSuffix": k.Spec.NameSuffix != "", "targetNamespace": k.Spec.TargetNamespace != "",
	} {
		if isSet {
			applied.Changes = append(applied.Changes, field)
		}
	}
	slices.Sort(applied.Changes)
	// A revision is TAG@DIGEST, or the digest alone.
	revision := k.Status.LastAppliedRevision
	if applies, err := digest.Parse(revision[strings.LastIndexByte(revision, '@')+1:]); err == nil {
		applied.Digest = applies.String()
	}
	if ready := apimeta.FindStatusCondition(k.Status.Conditions, meta.ReadyCondition); ready != nil {
		applied.Reason, applied.Message = ready.Reason, ready.Message
		if ready.ObservedGeneration == 0 || ready.ObservedGeneration >= k.Generation {
			applied.Ready = ready.Status
		}
	}
	return applied
}

// definitionKinds are the kinds of definitions that the platforms' releases have.
var definitionKinds = []schema.GroupVersionKind{
	{Group: kinds.KKPGroup, Version: "v1", Kind: definition.Kind},
	{Group: kinds.CozystackGroup, Version: "v1alpha1", Kind: definition.Kind},
}

// definitions calls f for each definition with the label of Winnow, or in the inventories.
func (c *Cluster) definitions(ctx context.Context, by []receipt.Kustomization, f func(object *unstructured.Unstructured, isApplied bool)) error {
	applied := map[string]bool{}
	for _, k := range by {
		for _, id := range k.Objects {
			applied[id] = true
		}
	}
	for _, gvk := range definitionKinds {
		objects, err := c.list(ctx, gvk)
		if err != nil {
			return err
		}
		for i := range objects {
			isApplied := applied[receipt.ObjectID(safeguard.KeyOf(gvk.Group, gvk.Kind, "", objects[i].GetName()))]
			if isApplied || objects[i].GetLabels()[v1alpha1.ManagedByLabel] == v1alpha1.ManagedByValue {
				f(&objects[i], isApplied)
			}
		}
	}
	return nil
}
