// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// helmReleaseCRD is as much of that of Flux as the policy looks at.
const helmReleaseCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: helmreleases.helm.toolkit.fluxcd.io}
spec:
  group: helm.toolkit.fluxcd.io
  names: {kind: HelmRelease, listKind: HelmReleaseList, plural: helmreleases, singular: helmrelease}
  scope: Namespaced
  versions:
  - name: v2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// TestLossesPolicyOnReleasesAndKinds: another release in the place of one, and the deletion of a kind, uninstall software as well.
func TestLossesPolicyOnReleasesAndKinds(t *testing.T) {
	s := startSpoke(t)
	release := func(name, target string) *unstructured.Unstructured {
		return parse(t, fmt.Appendf(nil, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: grafana, namespace: default, labels: {%s: winnow}}\n"+
			"spec: {releaseName: %s, storageNamespace: default, targetNamespace: %s}\n", managedByLabel, name, target))
	}
	apply := func(object *unstructured.Unstructured) error {
		return s.api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(fluxManager), client.ForceOwnership)
	}
	s.approve("")
	s.mustCreate(release("grafana", "default"))
	for name, next := range map[string]*unstructured.Unstructured{"another name of the release": release("other", "default"), "another namespace of the release": release("grafana", "elsewhere")} {
		t.Run(name, func(t *testing.T) {
			if err := apply(next); !apierrors.IsForbidden(err) {
				t.Errorf("helm-controller uninstalls grafana: %v", err)
			}
		})
	}
	t.Run("what is said instead of a default", func(t *testing.T) {
		spelled := release("grafana", "default")
		unstructured.RemoveNestedField(spelled.Object, "spec", "storageNamespace")
		if err := unstructured.SetNestedField(spelled.Object, "value", "spec", "values", "key"); err != nil {
			t.Fatal(err)
		}
		if err := apply(spelled); err != nil {
			t.Error(err)
		}
	})
	t.Run("what is approved", func(t *testing.T) {
		s.approve("default/grafana/*")
		if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
			return apply(release("other", "default")) == nil, nil
		}); err != nil {
			t.Error(err)
		}
	})
	t.Run("another kind", func(t *testing.T) {
		other := parse(t, []byte(strings.ReplaceAll(strings.ReplaceAll(helmReleaseCRD, "helm.toolkit.fluxcd.io", "other.example.com"), "helmrelease", "thing")))
		if err := s.api.Create(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		if err := s.api.Delete(t.Context(), other); err != nil {
			t.Error(err)
		}
	})
	t.Run("the deletion of the kind", func(t *testing.T) {
		live := s.create(managed, "1")
		kind := &unstructured.Unstructured{}
		kind.SetAPIVersion("apiextensions.k8s.io/v1")
		kind.SetKind("CustomResourceDefinition")
		kind.SetName("applicationdefinitions.apps.kubermatic.k8c.io")
		if err := s.api.Delete(t.Context(), kind); apierrors.IsForbidden(err) {
			return
		}
		if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
			return s.api.Get(ctx, client.ObjectKeyFromObject(live), live.DeepCopy()) != nil, nil
		}); err != nil {
			t.Fatal(err)
		}
		t.Error("all definitions are deleted with the CustomResourceDefinition")
	})
}
