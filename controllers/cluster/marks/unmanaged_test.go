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
	"github.com/winnow-dev/winnow/render/guard"
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
		if got := c.isHeldByAnother(t.Context(), cs, object, map[types.NamespacedName]bool{}); got != test.want {
			t.Errorf("%s: isHeldByAnother() = %t", test.name, got)
		}
	}
}
