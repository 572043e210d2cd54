// SPDX-License-Identifier: Apache-2.0

package marks

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/access"
	"github.com/winnow-dev/winnow/controllers/cluster/claims"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/ledger"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// selections reads the selections in deleting, which maps them to whether they are being deleted.
type selections struct {
	client.Reader
	deleting map[types.NamespacedName]bool
}

// Get implements client.Reader.
func (s selections) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	deleting, known := s.deleting[key]
	if !known {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	if deleting {
		now := metav1.Now()
		object.SetDeletionTimestamp(&now)
	}
	return nil
}

func TestTheLabelsOfAnUnseenSelection(t *testing.T) {
	cs := &v1alpha1.CatalogSelection{}
	cs.Namespace, cs.Name = "apps", "kkp"
	c := &Marks{Access: &access.Access{APIReader: selections{deleting: map[types.NamespacedName]bool{
		{Namespace: "apps", Name: "kkp"}: false, {Namespace: "apps", Name: "living"}: false, {Namespace: "apps", Name: "deleting"}: true,
	}}}}
	for _, test := range []struct {
		name, namespace, selection string
		want                       bool
	}{
		{"one that lives", "apps", "living", true},
		{"one that is being deleted", "apps", "deleting", false},
		{"one that is gone", "apps", "gone", false},
		{"one of a namespace that is gone", "gone", "living", false},
		{"itself", "apps", "kkp", false},
		{"none", "", "", false},
		{"half a name", "apps", "", false},
	} {
		object := &guard.Live{}
		object.Labels = map[string]string{v1alpha1.NamespaceLabel: test.namespace, v1alpha1.NameLabel: test.selection}
		if got := c.heldByUnseen(t.Context(), cs, object, map[types.NamespacedName]bool{}); got != test.want {
			t.Errorf("%s: heldByUnseen() = %t", test.name, got)
		}
	}
}

// lister counts how often all selections are listed.
type lister struct {
	client.Reader
	lists int
}

// List implements client.Reader.
func (l *lister) List(context.Context, client.ObjectList, ...client.ListOption) error {
	l.lists++
	return nil
}

// Thousands of definitions are compared with thousands of selections only where a label may have to be set or taken back.
func TestSelectionsAreListedForLabelsOnly(t *testing.T) {
	labelled := func(manager string) []metav1.ManagedFieldsEntry {
		fields := `{"f:metadata":{"f:labels":{"f:` + v1alpha1.UnmanagedLabel + `":{}}}}`
		return []metav1.ManagedFieldsEntry{{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(fields),
		}}
	}
	for _, test := range []struct {
		name      string
		unmanaged string
		fields    []metav1.ManagedFieldsEntry
		want      int
	}{
		{"no label", v1alpha1.UnmanagedIgnore, nil, 0},
		{"the label of another client", v1alpha1.UnmanagedIgnore, labelled("user"), 0},
		{"the label of Winnow", v1alpha1.UnmanagedIgnore, labelled(guard.MarksOwner), 1},
		{"a selection that labels", v1alpha1.UnmanagedLabelled, nil, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := &guard.Live{}
			object.SetGroupVersionKind(schema.GroupVersionKind{Group: "platform.example", Version: "v1", Kind: "ApplicationDefinition"})
			object.Name, object.ManagedFields = "argocd", test.fields
			cs := &v1alpha1.CatalogSelection{}
			cs.Spec.Cluster.Unmanaged = test.unmanaged
			selections, known := &lister{}, &ledger.Ledger{}
			known.NoteRender(cs.UID, 1, inventory.Keys{guard.LiveKey(object): true}, false)
			m := &Marks{
				Access: &access.Access{APIReader: gone{}},
				Claims: &claims.Claims{Selections: selections, Ledger: known, Published: nothing},
			}
			if n, err := m.SyncUnmanaged(t.Context(), cs, &live.State{Live: []*guard.Live{object}}); n != 0 || err != nil {
				t.Errorf("SyncUnmanaged() = %d, %v", n, err)
			}
			if selections.lists != test.want {
				t.Errorf("all selections are listed %d times, want %d", selections.lists, test.want)
			}
		})
	}
}

// nothing is what a selection without a record has published.
func nothing(*v1alpha1.CatalogSelection) ([]safeguard.Definition, error) { return nil, nil }

// gone is the API server after the objects were deleted.
type gone struct{ client.Reader }

// Get implements client.Reader.
func (gone) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}
