// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/spelling"
)

// Selection is a CatalogSelection of a cluster.
type Selection struct {
	*v1alpha1.CatalogSelection
	// Object is the same as the API server returned it, without managedFields.
	Object *unstructured.Unstructured
}

// Key returns the namespace and the name.
func (s *Selection) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
}

// NotFoundError reports that an object does not exist, of a kind that the cluster serves.
type NotFoundError struct {
	Kind string
	Key  types.NamespacedName
	// Advice is what may have been meant; empty where nothing resembles the key.
	Advice string
}

// Error names the object.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s %s not found in namespace %s%s", e.Kind, e.Key.Name, e.Key.Namespace, e.Advice)
}

var selectionKind = v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSelectionKind)

func (c *Cluster) selections(namespace string) dynamic.ResourceInterface {
	return c.objects.Resource(v1alpha1.GroupVersion.WithResource("catalogselections")).Namespace(namespace)
}

// Selections returns the CatalogSelections of a namespace, or of all with an empty one, in the order of the API
// server: by namespace and name. labels is a selector; with an empty one it returns all.
func (c *Cluster) Selections(ctx context.Context, namespace, labels string) ([]*Selection, error) {
	objects, _, err := pages(ctx, c.selections(namespace), metav1.ListOptions{LabelSelector: labels})
	if err != nil {
		return nil, fmt.Errorf("reading the CatalogSelections: %w", c.explain(ctx, err))
	}
	all := make([]*Selection, len(objects))
	for i := range objects {
		if all[i], err = selectionOf(&objects[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Selection returns a CatalogSelection. The error is a *NotFoundError if it does not exist.
func (c *Cluster) Selection(ctx context.Context, key types.NamespacedName) (*Selection, error) {
	object, err := c.get(ctx, c.selections(key.Namespace), v1alpha1.CatalogSelectionKind, key)
	if missing, ok := errors.AsType[*NotFoundError](err); ok {
		missing.Advice = c.meant(ctx, key)
	}
	if err != nil {
		return nil, err
	}
	return selectionOf(object)
}

// meant returns where a missing selection is, or which one has a similar name; nothing where the account may not list all.
func (c *Cluster) meant(ctx context.Context, key types.NamespacedName) string {
	all, _ := c.Selections(ctx, "", "")
	var beside []string
	for _, s := range all {
		if s.Name == key.Name {
			return fmt.Sprintf(": it is in %s: pass -n %[1]s", s.Namespace)
		}
		if s.Namespace == key.Namespace {
			beside = append(beside, s.Name)
		}
	}
	return spelling.Meant(key.Name, beside)
}

// Elsewhere returns a clause on the selections of other namespaces, for a namespace without one; empty without them.
func (c *Cluster) Elsewhere(ctx context.Context) string {
	all, _ := c.Selections(ctx, "", "")
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("; other namespaces have %d", len(all))
}

func selectionOf(object *unstructured.Unstructured) (*Selection, error) {
	object.SetManagedFields(nil)
	cs, err := decode[v1alpha1.CatalogSelection](object)
	if err != nil {
		return nil, err
	}
	return &Selection{CatalogSelection: cs, Object: object}, nil
}

// get reads an object of a kind that Flux or Winnow reconciles.
func (c *Cluster) get(ctx context.Context, in dynamic.ResourceInterface, kind string, key types.NamespacedName) (*unstructured.Unstructured, error) {
	object, err := in.Get(ctx, key.Name, metav1.GetOptions{})
	if err != nil {
		return nil, c.failed(ctx, "reading", kind, key, err)
	}
	return object, nil
}

// failed returns the error of a request for one object.
func (c *Cluster) failed(ctx context.Context, doing, kind string, key types.NamespacedName, err error) error {
	explained := c.explain(ctx, err)
	if apierrors.IsNotFound(explained) {
		return &NotFoundError{Kind: kind, Key: key}
	}
	return fmt.Errorf("%s the %s %s: %w", doing, kind, key, explained)
}

// explain replaces the error of a cluster that does not serve CatalogSelections.
func (c *Cluster) explain(ctx context.Context, err error) error {
	if !apierrors.IsNotFound(err) {
		return err
	}
	served, failed := c.resource(ctx, selectionKind)
	switch {
	case failed != nil:
		return failed
	case served == "":
		return fmt.Errorf("no kind %s in %s: Winnow is not installed in this cluster", selectionKind.Kind, v1alpha1.GroupVersion)
	}
	return err
}
