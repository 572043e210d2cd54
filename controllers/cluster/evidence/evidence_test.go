// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// helmRelease is one of the release a.
func helmRelease(namespace, storage, target string) safeguard.Definition {
	return safeguard.Definition{
		APIVersion: "helm.toolkit.fluxcd.io/v2", Kind: "HelmRelease", Namespace: namespace, Name: "x", Instance: "x",
		Identity: map[string]string{
			safeguard.ReleaseField: "a", safeguard.StorageNamespaceField: storage, safeguard.TargetNamespaceField: target,
		},
	}
}

// ofTenant returns the evidence about the Kustomization "tenant" whose inventory has the published definitions.
func ofTenant(published []safeguard.Definition, unread ...string) Evidence {
	var live []*guard.Live
	for _, d := range published {
		object := &guard.Live{}
		object.SetGroupVersionKind(schema.FromAPIVersionAndKind(d.APIVersion, d.Kind))
		object.SetNamespace(d.Namespace)
		object.SetName(d.Name)
		object.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": "tenant", "kustomize.toolkit.fluxcd.io/namespace": "tenant"})
		live = append(live, object)
	}
	kinds := map[schema.GroupKind]bool{}
	for _, kind := range unread {
		kinds[schema.ParseGroupKind(kind)] = true
	}
	item := consumers.Consumer{ConsumerStatus: v1alpha1.ConsumerStatus{Namespace: "tenant", Name: "tenant", Revision: "any"}}
	return In(live, consumers.Consumers{Known: true, Items: []consumers.Consumer{item}}, published, kinds)
}

func TestWhoHasARelease(t *testing.T) {
	for _, test := range []struct {
		name string
		// holder has applied its object, by owns like in the namespace of each of the two keys, and claimant has not.
		holder, claimant       safeguard.Definition
		storage, target        bool // whether the holder has what the claimant claims
		likeStorage, likeThere bool // whether the holder owns something like it
	}{
		{"in the same namespace", helmRelease("flux", "flux", "web"), helmRelease("flux", "flux", "web"), true, true, true, false},
		{"in another one", helmRelease("flux", "flux", "web"), helmRelease("tenant", "tenant", "web"), false, true, false, false},
		{"stored elsewhere", helmRelease("flux", "web", "web"), helmRelease("tenant", "tenant", "web"), false, true, false, false},
		{"against the one that it is stored with", helmRelease("tenant", "flux", "web"), helmRelease("flux", "flux", "web"), false, false, false, false},
		{"against the one that it is installed beside", helmRelease("tenant", "tenant", "flux"), helmRelease("flux", "flux", "flux"), false, false, false, false},
		{"stored where it is claimed from afar", helmRelease("flux", "flux", "web"), helmRelease("tenant", "flux", "web"), true, true, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := ofTenant([]safeguard.Definition{test.holder})
			keys, at := test.claimant.Releases(), consumers.Home(consumers.Consumers{}.Releases([]safeguard.Definition{test.claimant}))
			got := []bool{e.Has(keys[0], at), e.Has(keys[1], at), e.OwnsLike(keys[0]), e.OwnsLike(keys[1])}
			want := []bool{test.storage, test.target, test.likeStorage, test.likeThere}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("has and ownsLike are %v, not %v", got, want)
				}
			}
		})
	}
}

// What a Kustomization reports counts for the kinds that cannot be read, whatever else its selection publishes.
func TestAReportSaysNothingAboutOtherKinds(t *testing.T) {
	published := []safeguard.Definition{helmRelease("tenant", "tenant", "tenant")}
	e := ofTenant(nil, "HelmRelease.helm.toolkit.fluxcd.io")
	definition := safeguard.KeyOf("apps.example", "ApplicationDefinition", "", "argocd")
	if e.OwnsLike(definition) || e.Has(definition, nil) {
		t.Error("a report about HelmReleases shows that a definition is applied")
	}
	if key := published[0].Key(); !e.OwnsLike(key) {
		t.Error("a report about HelmReleases that cannot be read does not count")
	}
}
