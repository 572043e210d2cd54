// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/reserved"
)

func TestWhatIsNotAdopted(t *testing.T) {
	for _, test := range []struct {
		name, live string
		edit       func(*unstructured.Unstructured)
		selection  specEdit
	}{
		{"a definition without versions", "argocd:", nil, guarded},
		{"one that has fewer versions", "argocd:2.0.0", nil, guarded},
		{"one of another name", "argo:1.0.0", nil, guarded},
		{"one that Flux does not change", "argocd:1.0.0", annotated(reconcileAnnotation, disabled), guarded},
		{"one that Flux does not change, in capitals", "argocd:1.0.0", annotated(reconcileAnnotation, "Disabled"), guarded},
		{"one that is bypassed", "argocd:1.0.0", func(u *unstructured.Unstructured) {
			u.SetLabels(map[string]string{v1alpha1.BypassLabel: ""})
		}, guarded},
		{"one whose versions may be removed", "argocd:1.0.0", nil, func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Safeguards = v1alpha1.Safeguards{OnVersionRemoval: v1alpha1.SafeguardPublish}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.live(test.live, func(u *unstructured.Unstructured) {
				if test.edit != nil {
					test.edit(u)
				}
			})
			e.source(applications(t, e.own("argocd::2.0.0,3.0.0")))
			e.selection("kkp", test.selection)
			e.good()
		})
	}
}

// The platform's own controllers would restore their versions.
func TestADefinitionOfThePlatformIsHeld(t *testing.T) {
	for _, test := range []struct {
		name, key, value string
		selection        specEdit
	}{
		{"of KKP's operator", platformLabel, "operator", guarded},
		{"of the application-catalog-manager", "applicationcatalog.k8c.io/managed-by", "application-catalog-manager", guarded},
		{"of KKP's catalog manager", "applicationcatalog.k8c.io/managed-by", "KKP", guarded},
		{"of the catalog manager of KKP 2.29", "apps.k8c.io/managed-by-external-manager", "true", guarded},
		{"while versions may be removed", platformLabel, "kkp", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Safeguards = v1alpha1.Safeguards{OnVersionRemoval: v1alpha1.SafeguardPublish}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.live("argocd:1.0.0", func(u *unstructured.Unstructured) {
				if mark := map[string]string{test.key: test.value}; test.key == reserved.ManagerAnnotation {
					u.SetAnnotations(mark)
				} else {
					u.SetLabels(mark)
				}
			})
			e.source(applications(t, e.own("argocd nginx")))
			e.selection("kkp", test.selection)
			cs := e.heldAtFirst("Adoption")
			e.equal("reasons", cs.Status.Held.Reasons, []v1alpha1.HeldReason{{
				Reason: "Adoption", Application: e.own("argocd"), Message: "lives in the cluster, where the platform itself reconciles it",
				Approve: []string{e.own("argocd") + ":live"},
			}})
			e.approve(cs.Status.Held.Approve...)
			e.good()
		})
	}
}

func TestManyLiveDefinitionsAreRead(t *testing.T) {
	e := newEnvironment(t)
	var live, words, want []string
	for i := range 15 {
		live = append(live, fmt.Sprintf("app%02d:1.0.0,2.0.0", i))
		words = append(words, fmt.Sprintf("app%02d::2.0.0", i))
		want = append(want, fmt.Sprintf("Adoption %s-app%02d 1.0.0", e.namespace, i))
	}
	e.live(strings.Join(live, " ") + " another:5.0.0")
	e.source(applications(t, e.own(strings.Join(words, " "))))
	e.selection("kkp", guarded)
	e.equal("lost", lost(e.heldAtFirst("Adoption")), want)
	for i := range 15 {
		e.editLive(fmt.Sprintf("app%02d", i), func(u *unstructured.Unstructured) { setVersions(u, "2.0.0") })
	}
	e.good()
}

// The definitions that the selection publishes already are compared with the record, whatever the live
// definitions contain.
func TestPublishedDefinitionsAreNotAdoptedAgain(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, e.own("argocd")))
	e.selection("kkp", guarded)
	e.good()
	e.live("argocd:0.1.0")
	e.restart()
	e.source(applications(t, e.own("argocd::1.0.0,2.0.0")))
	e.good()
}

// kustomization creates a Kustomization that uses the artifact of "kkp".
func (e *environment) kustomization(name string, remote bool) {
	e.Helper()
	ks := &kustomizev1.Kustomization{}
	ks.Name, ks.Namespace = name, e.namespace
	ks.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: "ExternalArtifact", Name: "kkp"}
	ks.Spec.Interval.Duration, ks.Spec.Prune = 1<<40, true
	if remote {
		ks.Spec.KubeConfig = &meta.KubeConfigReference{SecretRef: &meta.SecretKeyReference{Name: "other-cluster"}}
	}
	if err := apiServer.Create(e.Context(), ks); err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = client.IgnoreNotFound(apiServer.Delete(context.Background(), ks)) })
}

func TestOnlyThisClusterIsAdopted(t *testing.T) {
	for _, test := range []struct {
		name          string
		remote, local int
		held          bool
	}{
		{"all consumers are remote", 2, 0, false},
		{"one is not", 1, 1, true},
		{"there is none yet", 0, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.live("argocd:1.0.0")
			for i := range test.remote {
				e.kustomization(fmt.Sprintf("remote%d", i), true)
			}
			for i := range test.local {
				e.kustomization(fmt.Sprintf("local%d", i), false)
			}
			e.source(applications(t, e.own("argocd::2.0.0")))
			e.selection("kkp", guarded)
			if test.held {
				e.heldAtFirst("Adoption")
			} else {
				e.good()
			}
		})
	}
}

// applied creates a Kustomization of the selection "kkp" that prunes, and has applied definitions of a revision
// of another selection, as its inventory may still have them.
func (e *environment) applied(name string, words string, edit ...func(*kustomizev1.Kustomization)) {
	e.Helper()
	ks := &kustomizev1.Kustomization{}
	ks.Name, ks.Namespace = name, e.namespace
	ks.Spec.Interval, ks.Spec.Prune = metav1.Duration{Duration: time.Minute}, true
	ks.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.ExternalArtifactKind, Name: "kkp"}
	for _, f := range edit {
		f(ks)
	}
	inventory := &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{}}
	for word := range strings.FieldsSeq(words) {
		id := "_" + word + "_apps.kubermatic.k8c.io_ApplicationDefinition"
		if strings.Contains(word, "/") {
			id = strings.Replace(word, "/", "_", 1) + "__ConfigMap"
		}
		inventory.Entries = append(inventory.Entries, kustomizev1.ResourceRef{ID: id, Version: "v1"})
	}
	if err := apiServer.Create(e.Context(), ks); err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = client.IgnoreNotFound(apiServer.Delete(context.Background(), ks)) })
	ks.Status.Inventory, ks.Status.LastAppliedRevision = inventory, "main@sha1:1234"
	if err := apiServer.Status().Update(e.Context(), ks); err != nil {
		e.Fatal(err)
	}
}

// A selection that is recreated, or renamed, has no record, and a Kustomization deletes the objects in its
// inventory that the artifact lacks.
func TestWhatAConsumerHasAppliedIsNotLost(t *testing.T) {
	removal := func(names ...string) func(e *environment) []string {
		return func(e *environment) (lines []string) {
			for _, name := range names {
				lines = append(lines, "Removal "+e.own(name))
			}
			return lines
		}
	}
	keeping := func(ks *kustomizev1.Kustomization) { ks.Spec.Prune = false }
	afar := func(ks *kustomizev1.Kustomization) {
		ks.Spec.KubeConfig = &meta.KubeConfigReference{SecretRef: &meta.SecretKeyReference{Name: "kubeconfig"}}
	}
	prefixed := func(ks *kustomizev1.Kustomization) { ks.Spec.NamePrefix = "a-" }
	for _, test := range []struct {
		name       string
		inventory  string
		edit       func(*kustomizev1.Kustomization)
		safeguards v1alpha1.Safeguards
		want       func(e *environment) []string
	}{
		{name: "an application that the catalog lacks", inventory: "argocd nginx", want: removal("nginx")},
		{name: "in another cluster", inventory: "argocd nginx", edit: afar, want: removal("nginx")},
		{name: "a Kustomization without prune", inventory: "argocd nginx", edit: keeping},
		{name: "no more than is rendered", inventory: "argocd"},
		{name: "nothing applied", inventory: ""},
		{name: "removals are published", inventory: "argocd nginx", safeguards: v1alpha1.Safeguards{OnRemoval: "Publish"}},
		{name: "another kind", inventory: "argocd default/settings", want: func(*environment) []string { return []string{"Removal default/settings"} }},
		{name: "other names", inventory: "argocd", edit: prefixed, want: removal("argocd")},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			inventory := ""
			for word := range strings.FieldsSeq(test.inventory) {
				if !strings.Contains(word, "/") {
					word = e.own(word)
				}
				inventory += " " + word
			}
			edit := test.edit
			if edit == nil {
				edit = func(*kustomizev1.Kustomization) {}
			}
			e.applied("apps", inventory, edit)
			e.source(applications(t, e.own("argocd falco")))
			e.selection("kkp", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards, cs.Spec.Cluster.Serve = test.safeguards, "" })
			if test.want == nil {
				e.good()
				return
			}
			cs := e.heldAtFirst("Removal")
			e.equal("lost", lost(cs), test.want(e))
			e.approve(cs.Status.Held.Approve...)
			e.good()
			e.reconcile("kkp")
			e.good()
		})
	}
}
