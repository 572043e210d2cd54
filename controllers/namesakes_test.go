// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// bypassedOf returns the labels of a bypassed definition that the Kustomization apps has applied for the selection kkp.
func (c *liveCluster) bypassedOf() map[string]string {
	return map[string]string{
		v1alpha1.BypassLabel: "true", v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue, v1alpha1.NameLabel: "kkp", v1alpha1.NamespaceLabel: c.namespace,
		"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": c.namespace,
	}
}

// A definition belongs to no namespace for the safeguards. If its CRD is namespaced, there may still be two with one name.
func TestEachBypassedNamesakeIsMarked(t *testing.T) {
	for name, edit := range map[string]func(*v1alpha1.CatalogSelection){
		"what concerns the selection": nil, "all, to label the unmanaged ones": labelling,
	} {
		t.Run(name, func(t *testing.T) {
			c := withoutKind(t)
			crd := definitionsOfGroup(c.group)
			crd.Spec.Scope = apiextensionsv1.NamespaceScoped
			c.serve(crd)
			c.catalog("argocd")
			if edit != nil {
				c.edit(edit)
			}
			c.consumer("apps", "kkp")
			c.publish("kkp")
			both := make([]*unstructured.Unstructured, 2)
			for i, namespace := range []string{c.namespace, c.neighbor().namespace} {
				both[i] = newDefinition(c.group, "argocd")
				both[i].SetNamespace(namespace)
				both[i].SetLabels(c.bypassedOf())
				if err := apiServer.Create(c.Context(), both[i], client.FieldOwner("user")); err != nil {
					t.Fatal(err)
				}
			}
			c.reports("apps", c.get("kkp").Status.Artifact.Revision)
			c.awaitCaches()
			if _, err := c.tryReconcile("kkp"); err != nil {
				t.Fatal(err)
			}
			for _, object := range both {
				if err := apiServer.Get(c.Context(), client.ObjectKeyFromObject(object), object); err != nil {
					t.Fatal(err)
				}
				if object.GetAnnotations()[reconcileAnnotation] != "disabled" {
					t.Errorf("the definition in %s has the annotations %v", object.GetNamespace(), object.GetAnnotations())
				}
			}
		})
	}
}

// A definition that left is watched in each version of its kind that the selection has seen: one of these may cease to be served.
func TestAMarkEndsAfterAVersionOfItsKindWasRemoved(t *testing.T) {
	c := newCluster(t)
	group := c.namespace + ".winnow.example"
	crd := definitionsOfGroup(group)
	second := crd.Spec.Versions[0]
	crd.Spec.Versions[0].Name, crd.Spec.Versions[0].Storage, second.Name = "v1beta1", false, "v1beta2"
	crd.Spec.Versions = append(crd.Spec.Versions, second)
	c.serve(crd)
	publishes := func(others []string, version string) {
		var files []string
		for _, name := range others {
			files = append(files, "applications/"+name+"/application.yaml", definition(name, ""))
		}
		if version != "" {
			files = append(files, "applications/argocd/application.yaml",
				strings.Replace(definition("argocd", ""), "apps.kubermatic.k8c.io/v1", group+"/"+version, 1))
		}
		c.source(catalogArchive(t, files...))
	}
	publishes([]string{"nginx", "falco"}, "v1beta1")
	c.selection("kkp", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.OnRemoval = v1alpha1.SafeguardHold })
	c.consumer("apps", "kkp")
	c.publish("kkp")
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1beta2", Kind: "ApplicationDefinition"})
	object.SetName("argocd")
	object.SetLabels(c.bypassedOf())
	if err := apiServer.Create(t.Context(), object, client.FieldOwner("user")); err != nil {
		t.Fatal(err)
	}
	mark := func() string {
		c.awaitCaches()
		_, _ = c.tryReconcile("kkp") // held, or not
		c.awaitCaches()
		if err := apiServer.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
		return object.GetAnnotations()[reconcileAnnotation]
	}
	c.reports("apps", c.get("kkp").Status.Artifact.Revision)
	mark()
	publishes([]string{"nginx"}, "v1beta2") // held
	mark()
	publishes([]string{"nginx", "falco"}, "")
	c.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.OnRemoval = v1alpha1.SafeguardPublish })
	mark()
	if got := mark(); got != "disabled" {
		t.Fatalf("the bypassed definition has the mark %q", got)
	}
	live := &apiextensionsv1.CustomResourceDefinition{}
	if err := apiServer.Get(t.Context(), types.NamespacedName{Name: crd.Name}, live); err != nil {
		t.Fatal(err)
	}
	live.Spec.Versions[0].Served = false
	if err := apiServer.Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	c.await("the watch to end", func() bool {
		_, watched := c.reconciler.cluster.Kinds.Readers()[schema.GroupVersionKind{Group: group, Version: "v1beta1", Kind: "ApplicationDefinition"}]
		return !watched
	})
	mark()
	unlabelled := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+v1alpha1.BypassLabel+`":null}}}`))
	if err := apiServer.Patch(t.Context(), object, unlabelled, client.FieldOwner("user")); err != nil {
		t.Fatal(err)
	}
	mark()
	if got := mark(); got != "" {
		t.Errorf("after the bypass the mark is %q", got)
	}
}
