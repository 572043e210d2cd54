// SPDX-License-Identifier: Apache-2.0

package chartupgrades

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Bounds of the time that the cluster takes to serve a kind.
const (
	patience = 30 * time.Second
	poll     = 50 * time.Millisecond
)

// cluster is an API server during one upgrade, with what the upgrade made there.
type cluster struct {
	client.Client
	namespace string
	made      []*unstructured.Unstructured
}

// newCluster returns a cluster with a new namespace. Its client knows nothing of kinds that were deleted.
func newCluster(ctx context.Context, config *rest.Config, namespace string) (*cluster, error) {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	return &cluster{Client: c, namespace: namespace}, c.Create(ctx, namespaceObject(namespace))
}

// Empty deletes the CRDs of an API server: charts have the same ones.
func Empty(ctx context.Context, config *rest.Config) error {
	connected, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	c := &cluster{Client: connected}
	crds := &unstructured.UnstructuredList{}
	crds.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))
	if err := c.List(ctx, crds); err != nil {
		return err
	}
	for i := range crds.Items {
		if err := c.remove(ctx, &crds.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

func namespaceObject(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// place gives a namespaced object without a namespace that of the release, and takes it from others, as Helm does.
func (c *cluster) place(o object) error {
	isNamespaced, err := c.IsObjectNamespaced(o.Unstructured)
	switch {
	case err != nil:
		return err
	case !isNamespaced:
		o.SetNamespace("")
	case o.GetNamespace() == "":
		o.SetNamespace(c.namespace)
	}
	return nil
}

// apply applies an object as Helm does: its server-side apply forces no conflicts. Namespaces that are missing are created.
func (c *cluster) apply(ctx context.Context, o object) error {
	send := func() error {
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("helm"))
	}
	err := send()
	if apierrors.IsNotFound(err) && strings.Contains(err.Error(), "namespaces ") {
		namespace := namespaceObject(o.GetNamespace())
		if err := c.Create(ctx, namespace); err != nil {
			return err
		}
		c.made = append(c.made, keyed("v1", "Namespace", "", namespace.Name))
		err = send()
	}
	if err != nil {
		return err
	}
	c.made = append(c.made, keyed(o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName()))
	return nil
}

// keyed returns an object with nothing but what names it.
func keyed(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	var o unstructured.Unstructured
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return &o
}

// applyNew is apply for an object whose kind was defined just now, which takes a moment.
func (c *cluster) applyNew(ctx context.Context, o object) (err error) {
	timeout := wait.PollUntilContextTimeout(ctx, poll, patience, true, func(ctx context.Context) (bool, error) {
		if err = c.place(o); err == nil {
			err = c.apply(ctx, o)
		}
		return err == nil || ignoreMissing(err) != nil, nil
	})
	if err == nil {
		err = timeout
	}
	return err
}

// ignoreMissing returns nil for an object or a kind that is not there.
func ignoreMissing(err error) error {
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// bind does what the controller of claims does: without it, a claim that grows would be refused.
func (c *cluster) bind(ctx context.Context, claim object) error {
	bound := keyed(claim.GetAPIVersion(), claim.GetKind(), claim.GetNamespace(), claim.GetName())
	return c.Status().Patch(ctx, bound, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Bound"}}`)))
}

// clean deletes what was made, the last first and CRDs at the end.
func (c *cluster) clean(ctx context.Context) error {
	slices.Reverse(c.made)
	slices.SortStableFunc(c.made, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	deleted := map[string]bool{}
	for _, o := range append(c.made, keyed("v1", "Namespace", "", c.namespace)) {
		if deleted[identity(o)] {
			continue
		}
		deleted[identity(o)] = true
		if err := c.remove(ctx, o); err != nil {
			return fmt.Errorf("deleting %s: %w", identity(o), err)
		}
	}
	return nil
}

func rank(o *unstructured.Unstructured) int {
	switch o.GetKind() {
	case "Namespace":
		return 2
	case "CustomResourceDefinition":
		return 1
	}
	return 0
}

// remove deletes an object without waiting for what its finalizers are for.
func (c *cluster) remove(ctx context.Context, o *unstructured.Unstructured) error {
	err := c.Delete(ctx, o, client.PropagationPolicy(metav1.DeletePropagationBackground))
	switch {
	case o.GetKind() == "Namespace" && apierrors.IsForbidden(err):
		return nil // such as kube-system
	case err != nil:
		return ignoreMissing(err)
	case o.GetKind() == "Namespace":
		return c.finalize(ctx, o.GetName())
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	return ignoreMissing(c.Patch(ctx, o.DeepCopy(), patch))
}

// finalize ends a namespace that was deleted: no controller does it here.
func (c *cluster) finalize(ctx context.Context, name string) error {
	namespace := namespaceObject(name)
	if err := c.Get(ctx, client.ObjectKeyFromObject(namespace), namespace); err != nil {
		return ignoreMissing(err)
	}
	namespace.Spec.Finalizers = nil
	return ignoreMissing(c.SubResource("finalize").Update(ctx, namespace))
}
