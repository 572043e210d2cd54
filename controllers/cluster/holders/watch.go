// SPDX-License-Identifier: Apache-2.0

package holders

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Selection is what the view reads of a CatalogSelection. The status of thousands has much more.
type Selection struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Suspend bool `json:"suspend"`
		Cluster struct {
			Unmanaged string `json:"unmanaged"`
		} `json:"cluster"`
	} `json:"spec"`
	Status struct {
		Held     *struct{}       `json:"held"`
		Claim    *v1alpha1.Claim `json:"claim"`
		Artifact struct {
			Revision string `json:"revision"`
		} `json:"artifact"`
	} `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (s *Selection) DeepCopyObject() runtime.Object {
	copied := *s
	s.DeepCopyInto(&copied.ObjectMeta)
	copied.Status.Claim = s.Status.Claim.DeepCopy()
	return &copied
}

// SelectionList is a list of Selections.
type SelectionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []Selection `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *SelectionList) DeepCopyObject() runtime.Object {
	copied := &SelectionList{TypeMeta: l.TypeMeta, ListMeta: l.ListMeta}
	for i := range l.Items {
		copied.Items = append(copied.Items, *l.Items[i].DeepCopyObject().(*Selection))
	}
	return copied
}

// Watch returns a function that keeps a view up to date until its context ends. It watches the selections of a namespace; of all for
// an empty one.
func Watch(config *rest.Config, namespace string, view cache.ReflectorStore) (func(context.Context), error) {
	gv, scheme := v1alpha1.GroupVersion, runtime.NewScheme()
	scheme.AddKnownTypeWithName(gv.WithKind(v1alpha1.CatalogSelectionKind), &Selection{})
	scheme.AddKnownTypeWithName(gv.WithKind(v1alpha1.CatalogSelectionKind+"List"), &SelectionList{})
	metav1.AddToGroupVersion(scheme, gv)
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", &gv
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.AcceptContentTypes, config.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	reader, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("watching CatalogSelections: %w", err)
	}
	lister := cache.NewListWatchFromClient(reader, "catalogselections", namespace, fields.Everything())
	return func(ctx context.Context) {
		logger := ctrl.LoggerFrom(ctx)
		cache.NewReflectorWithOptions(lister, &Selection{}, view, cache.ReflectorOptions{Name: "claims", Logger: &logger}).RunWithContext(ctx)
	}, nil
}
