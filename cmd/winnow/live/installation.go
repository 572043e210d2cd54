// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"encoding/json"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/render/guard"
)

// Read returns what the API server has at a path that every account may read.
func Read[T any](ctx context.Context, c *Cluster, path string) (found T, err error) {
	content, err := c.raw.Get().AbsPath(path).Do(ctx).Raw()
	if err == nil {
		err = json.Unmarshal(content, &found)
	}
	return found, err
}

// Definition returns a CustomResourceDefinition.
func (c *Cluster) Definition(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	return c.objects.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")).Get(ctx, name, metav1.GetOptions{})
}

// Allows reports whether a ServiceAccount has a right.
func (c *Cluster) Allows(ctx context.Context, account types.NamespacedName, right authorizationv1.ResourceAttributes) (bool, error) {
	review, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&authorizationv1.SubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SubjectAccessReview"},
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + account.Namespace + ":" + account.Name,
			Groups:             []string{"system:serviceaccounts", "system:serviceaccounts:" + account.Namespace, "system:authenticated"},
			ResourceAttributes: &right,
		},
	})
	if err != nil {
		return false, err
	}
	reviews := c.objects.Resource(authorizationv1.SchemeGroupVersion.WithResource("subjectaccessreviews"))
	answer, err := reviews.Create(ctx, &unstructured.Unstructured{Object: review}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	allowed, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed, err
}

// LeftBehind calls f for each definition of Winnow that no artifact keeps up to date.
func (c *Cluster) LeftBehind(ctx context.Context, f func(name string, left guard.Leftover)) error {
	kustomizations, err := All[kustomizev1.Kustomization](ctx, c, kustomizationKind, "")
	if err != nil {
		return err
	}
	var by []receipt.Kustomization
	for _, k := range kustomizations {
		if k.Spec.KubeConfig == nil { // the others apply to another cluster
			by = append(by, appliedBy(k))
		}
	}
	return c.definitions(ctx, by, func(object *unstructured.Unstructured, isApplied bool) {
		if left := guard.LeftoverOf(object, isApplied); left.Bypassed || left.Orphaned {
			f(object.GetName(), left)
		}
	})
}
