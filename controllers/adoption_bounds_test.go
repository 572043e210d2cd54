package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
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
		{"one that Flux leaves alone", "argocd:1.0.0", annotated(reconcileAnnotation, disabled), guarded},
		{"one that Flux leaves alone, in capitals", "argocd:1.0.0", annotated(reconcileAnnotation, "Disabled"), guarded},
		{"one that is bypassed", "argocd:1.0.0", func(u *unstructured.Unstructured) {
			u.SetLabels(map[string]string{v1alpha1.BypassLabel: ""})
		}, guarded},
		{"one whose versions may go", "argocd:1.0.0", nil, func(cs *v1alpha1.CatalogSelection) {
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

// KKP's own operator would fight with Flux over it.
func TestADefinitionOfThePlatformIsHeld(t *testing.T) {
	e := newEnvironment(t)
	e.live("argocd:1.0.0", func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{platformLabel: "operator"}) })
	source := e.source(applications(t, e.own("argocd nginx")))
	e.selection("kkp", guarded)
	cs := e.nothingYet("Adoption")
	e.equal("reasons", cs.Status.Held.Reasons, []v1alpha1.HeldReason{{
		Reason: "Adoption", Application: e.own("argocd"), Message: "lives in the cluster, where the platform itself reconciles it",
	}})
	e.approve(source.Digest)
	e.good()
}

func TestManyLiveDefinitionsAreRead(t *testing.T) {
	e := newEnvironment(t)
	var live, words, want []string
	for i := range 30 {
		live = append(live, fmt.Sprintf("app%02d:1.0.0,2.0.0", i))
		words = append(words, fmt.Sprintf("app%02d::2.0.0", i))
		want = append(want, fmt.Sprintf("Adoption %s-app%02d 1.0.0", e.namespace, i))
	}
	e.live(strings.Join(live, " ") + " another:5.0.0")
	e.source(applications(t, e.own(strings.Join(words, " "))))
	e.selection("kkp", guarded)
	e.equal("lost", lost(e.nothingYet("Adoption")), want)
	for i := range 30 {
		e.editLive(fmt.Sprintf("app%02d", i), func(u *unstructured.Unstructured) { setVersions(u, "2.0.0") })
	}
	e.good()
}

// What the selection publishes already is compared with the record, whatever somebody did to the
// live definition.
func TestWhatIsPublishedIsNotAdoptedAgain(t *testing.T) {
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
				e.nothingYet("Adoption")
			} else {
				e.good()
			}
		})
	}
}

// A Kustomization may still have in its inventory what the selection of before has published.
func TestASelectionThatIsCreatedAnewLosesNothing(t *testing.T) {
	labelled := func(e *environment, name string) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			u.SetLabels(map[string]string{
				v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue, v1alpha1.NameLabel: name, v1alpha1.NamespaceLabel: e.namespace,
			})
		}
	}
	gone := func(e *environment) []string { return []string{"Removal " + e.own("nginx")} }
	for _, test := range []struct {
		name, owner string
		edit        func(*unstructured.Unstructured)
		safeguards  v1alpha1.Safeguards
		words       string
		want        func(e *environment) []string
	}{
		{name: "the catalog dropped one", owner: "kkp", words: "argocd", want: gone},
		{name: "the catalog dropped a version, too", owner: "kkp", words: "argocd::2.0.0", want: func(e *environment) []string {
			return append(gone(e), "Adoption "+e.own("argocd")+" 1.0.0")
		}},
		{name: "Flux must not delete it", owner: "kkp", edit: annotated(pruneAnnotation, disabled), words: "argocd"},
		{name: "Flux must not delete it, in capitals", owner: "kkp", edit: annotated(pruneAnnotation, "Disabled"), words: "argocd"},
		{name: "Flux must not touch it", owner: "kkp", edit: annotated(reconcileAnnotation, disabled), words: "argocd"},
		{name: "it is another selection's", owner: "other", words: "argocd"},
		{name: "removals may pass", owner: "kkp", safeguards: v1alpha1.Safeguards{OnRemoval: "Publish"}, words: "argocd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, e.own("argocd nginx")))
			e.remove(e.selection("kkp", guarded))
			e.live("argocd:1.0.0", labelled(e, "kkp"))
			e.live("nginx:1.0.0", labelled(e, test.owner), func(u *unstructured.Unstructured) {
				if test.edit != nil {
					test.edit(u)
				}
			})
			source := e.source(applications(t, e.own(test.words)))
			e.selection("kkp", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards = test.safeguards })
			if test.want == nil {
				e.good()
				return
			}
			e.equal("lost", lost(e.nothingYet("Removal")), test.want(e))
			e.approve(source.Digest)
			e.good()
		})
	}
}
