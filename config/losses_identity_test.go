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

	"github.com/winnow-dev/winnow/render/safeguard"
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
			s.at(t).assertRefused(apply(next), "uninstalls the present one: to approve that, add the line "+
				"HelmRelease.helm.toolkit.fluxcd.io/default/grafana:identity"+toTheConfigMap)
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
		s.approveFormerly("default/grafana/*")
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
		const name = "CustomResourceDefinition.apiextensions.k8s.io/applicationdefinitions.apps.kubermatic.k8c.io"
		at := s.at(t)
		at.approve("CustomResourceDefinition/applicationdefinitions.cozystack.io\n" + name + "/*\n" + name + ":identity")
		if err := s.api.Delete(t.Context(), kind.DeepCopy()); apierrors.IsForbidden(err) {
			at.assertRefused(err, "add the line "+name+toTheConfigMap)
			for _, line := range []string{name + "#2", "CustomResourceDefinition/" + kind.GetName()} {
				at.approve(line)
				at.assertRefused(s.api.Delete(t.Context(), kind.DeepCopy(), client.DryRunAll), "")
			}
			at.approveFormerly(kind.GetName() + "/* # note")
			at.assertRefused(s.api.Delete(t.Context(), kind.DeepCopy(), client.DryRunAll), "")
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

// TestLossesPolicyOnInstances: Instance/NAME names the object that had the annotation before the request, and so does its own line.
func TestLossesPolicyOnInstances(t *testing.T) {
	s := startSpoke(t)
	const object = "HelmRelease.helm.toolkit.fluxcd.io/default/monitoring"
	for _, c := range []struct {
		name, annotation, lines string
		change                  func(*unstructured.Unstructured) // nil: the deletion
		want                    string
	}{
		{"a deletion", "grafana", "Instance/monitoring\nInstance/grafana/*\nInstance/grafana:identity\ngrafana", nil, refusedDeletion + "Instance/grafana" + toTheConfigMap},
		{"a deletion by the name of the instance", "grafana", "Instance/grafana#3", nil, ""},
		{"a deletion by its object", "grafana", object, nil, ""},
		{"a deletion by its object without the group", "grafana", "HelmRelease/default/monitoring", nil, ""},
		{"a deletion by another object", "grafana", "HelmRelease.example.com/default/monitoring\nHelmRelease/monitoring\nHelmRelease/other/monitoring", nil, refusedDeletion + "Instance/grafana"},
		{"an annotation that is no name is in no line", "grafana:identity", "Instance/grafana:identity\nInstance/grafana", nil, refusedDeletion + object + toTheConfigMap},
		{"an empty annotation is in no line", "", "Instance/\nInstance", nil, refusedDeletion + object + toTheConfigMap},
		{"another release", "grafana", "Instance/grafana\nInstance/grafana:source\n" + object, anotherRelease, "add the line Instance/grafana:identity" + toTheConfigMap},
		{"another release by the name of the instance", "grafana", "Instance/grafana:identity", anotherRelease, ""},
		{"another release by its object", "grafana", object + ":identity", anotherRelease, ""},
		{"another instance", "grafana", "Instance/other\nInstance/grafana:identity", annotated("other"), "add the line Instance/grafana" + toTheConfigMap},
		{"no instance", "grafana", "", annotated(""), "add the line Instance/grafana" + toTheConfigMap},
		{"another instance that is approved", "grafana", "Instance/grafana", annotated("other"), ""},
		{"a first annotation", "", "", annotated("other"), ""},
		{"another release, with the annotation of a line", "grafana", "Instance/other:identity\nInstance/other", func(o *unstructured.Unstructured) { annotated("other")(o); anotherRelease(o) }, "add the line Instance/grafana" + toTheConfigMap},
		{"the label", "grafana", "Instance/grafana:identity", unlabelled, "add the line Instance/grafana" + toTheConfigMap},
		{"the label that is approved", "grafana", "Instance/grafana", unlabelled, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := s.at(t)
			live := helmRelease(safeguard.Key{Namespace: "default", Name: "monitoring"}, c.annotation)
			at.mustCreate(live.DeepCopy())
			at.approve(c.lines)
			if c.change == nil {
				at.assertRefused(s.api.Delete(t.Context(), live, client.DryRunAll), c.want)
				return
			}
			c.change(live)
			at.assertRefused(at.dryRun(live), c.want)
		})
	}
	t.Run("a definition is named by its name alone", func(t *testing.T) {
		at := s.at(t)
		live := s.kkp.DeepCopy()
		live.SetLabels(managed)
		annotated("grafana")(live)
		at.mustCreate(live)
		at.approve("Instance/grafana\nApplicationDefinition.apps.kubermatic.k8c.io/argocd\nApplicationDefinition/argocd")
		at.assertRefused(deleted(at, live), refusedDeletion+"argocd"+toTheConfigMap)
	})
}

func anotherRelease(object *unstructured.Unstructured) {
	object.Object["spec"] = map[string]any{"releaseName": "other"}
}

func unlabelled(object *unstructured.Unstructured) { object.SetLabels(nil) }

// annotated gives an object the name of an instance; none for an empty one.
func annotated(name string) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		object.SetAnnotations(helmRelease(safeguard.Key{}, name).GetAnnotations())
	}
}
