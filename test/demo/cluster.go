// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// name is the name of the CatalogSelection and of the Kustomization in both examples.
const name = "applications"

// patience bounds every wait for a state.
const patience = 2 * time.Minute

// await polls the selection and its Kustomization until check returns nil.
func (d *demo) await(ctx context.Context, check func(*v1alpha1.CatalogSelection, *kustomizev1.Kustomization) error) (*v1alpha1.CatalogSelection, error) {
	key := client.ObjectKey{Namespace: stack.FluxNamespace, Name: name}
	cs, ks := &v1alpha1.CatalogSelection{}, &kustomizev1.Kustomization{}
	var last error
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		now := errors.Join(d.Client().Get(ctx, key, cs), d.Client().Get(ctx, key, ks))
		if now == nil {
			now = check(cs, ks)
		}
		if now == nil || ctx.Err() == nil {
			last = now
		}
		return now == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for %s: %w", name, errors.Join(last, ctx.Err()))
	}
	return cs, nil
}

// awaitApplied waits until a revision other than last is published and applied.
func (d *demo) awaitApplied(ctx context.Context, last string) (*v1alpha1.CatalogSelection, error) {
	return d.await(ctx, func(cs *v1alpha1.CatalogSelection, ks *kustomizev1.Kustomization) error {
		if !conditions.IsReady(cs) || cs.Status.Artifact.Revision == last ||
			!conditions.IsReady(ks) || ks.Status.LastAppliedRevision != cs.Status.Artifact.Revision {
			return fmt.Errorf("selection: %s; Kustomization: %s", ready(cs), conditions.GetMessage(ks, meta.ReadyCondition))
		}
		return nil
	})
}

// awaitHeld waits until a safeguard holds a change while the revision last stays published.
func (d *demo) awaitHeld(ctx context.Context, last string) (*v1alpha1.CatalogSelection, error) {
	return d.await(ctx, func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) error {
		if !conditions.IsTrue(cs, v1alpha1.HeldCondition) || cs.Status.Held == nil || cs.Status.Artifact.Revision != last {
			return fmt.Errorf("not held: %s", ready(cs))
		}
		return nil
	})
}

func (d *demo) selection(ctx context.Context) (*v1alpha1.CatalogSelection, error) {
	cs := &v1alpha1.CatalogSelection{}
	return cs, d.Client().Get(ctx, client.ObjectKey{Namespace: stack.FluxNamespace, Name: name}, cs)
}

// follow changes the tag of the OCIRepository, as a pull request would.
func (d *demo) follow(ctx context.Context, tag string) error {
	repository := &sourcev1.OCIRepository{}
	key := client.ObjectKey{Namespace: stack.FluxNamespace, Name: d.source}
	if err := d.Client().Get(ctx, key, repository); err != nil {
		return err
	}
	before := repository.DeepCopy()
	repository.Spec.Reference.Tag = tag
	return d.Client().Patch(ctx, repository, client.MergeFrom(before))
}

// list prints the live definitions, with the status of the selection on each.
func (d *demo) list(ctx context.Context, cs *v1alpha1.CatalogSelection) error {
	definitions, err := d.definitions(ctx)
	if err != nil {
		return err
	}
	tiers := map[string]string{}
	for _, app := range cs.Status.Applications {
		tiers[app.Name] = app.Tier
	}
	table := tabwriter.NewWriter(d.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "    NAME\tTIER\tVERSIONS")
	for _, definition := range definitions {
		fmt.Fprintf(table, "    %s\t%s\t%s\n", definition.GetName(), tiers[definition.GetName()], versions(definition))
	}
	return table.Flush()
}

func (d *demo) definitions(ctx context.Context) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps.kubermatic.k8c.io", Version: "v1", Kind: "ApplicationDefinitionList"})
	err := d.Client().List(ctx, list)
	return list.Items, err
}

func (d *demo) resourceVersions(ctx context.Context) (map[string]string, error) {
	definitions, err := d.definitions(ctx)
	versions := map[string]string{}
	for _, definition := range definitions {
		versions[definition.GetName()] = definition.GetResourceVersion()
	}
	return versions, err
}

func versions(definition unstructured.Unstructured) string {
	list, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	var names []string
	for _, item := range list {
		version, _, _ := unstructured.NestedString(item.(map[string]any), "version")
		names = append(names, version)
	}
	return strings.Join(names, ", ")
}

func ready(cs *v1alpha1.CatalogSelection) string {
	return conditions.GetMessage(cs, meta.ReadyCondition)
}
