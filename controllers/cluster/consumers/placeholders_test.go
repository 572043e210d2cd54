// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// patchedConsumer returns a consumer, as the cache has it.
func patchedConsumer(namespace string, patches ...string) Consumer {
	ks := &kustomizev1.Kustomization{}
	ks.Namespace, ks.Name, ks.Spec = namespace, "apps", patched(patches...)
	ks.Spec.SourceRef.Kind = sourcev1.ExternalArtifactKind
	trimKustomization(ks)
	return consumerOf(ks, published2)
}

func TestWhosePatchesPlaceholdersFit(t *testing.T) {
	const unfit, fit = "- {op: remove, path: /spec}", "{apiVersion: v1, kind: X, metadata: {name: x, labels: {a: b}}}"
	long := strings.Repeat("#", maxPatches/2) + "\n" + fit
	for _, test := range []struct {
		name  string
		items []Consumer
		fits  bool
	}{
		{"no consumer", nil, true},
		{"without patches", []Consumer{patchedConsumer("flux-system")}, true},
		{"of the namespace", []Consumer{patchedConsumer("flux-system", fit), patchedConsumer("flux-system", fit, unfit)}, false},
		{"that fit", []Consumer{patchedConsumer("flux-system", fit)}, true},
		{"of the owner", []Consumer{patchedConsumer("owner", unfit)}, false},
		{"of a stranger", []Consumer{patchedConsumer("tenant", unfit)}, true},
		{"that are long", []Consumer{patchedConsumer("flux-system", long)}, true},
		{"that are too long together", []Consumer{patchedConsumer("flux-system", long), patchedConsumer("owner", long)}, false},
		{"of a stranger, that are too long", []Consumer{patchedConsumer("tenant", long, long, long)}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			staying := []v1alpha1.LeavingStatus{{APIVersion: "apps.kubermatic.k8c.io/v1", Kind: "ApplicationDefinition", Name: "argocd"}}
			owners := map[types.NamespacedName]bool{{Namespace: "owner", Name: "apps"}: true}
			misfit := Consumers{Known: true, Items: test.items}.Misfit(t.Context(), staying, "flux-system", owners)
			if (misfit == "") != test.fits {
				t.Errorf("Misfit() = %q, and they fit is %t", misfit, test.fits)
			}
		})
	}
}

// Winnow reads no patches of other Kustomizations, which a cluster has many of.
func TestTheCacheHasPatchesOfConsumersOnly(t *testing.T) {
	ks := &kustomizev1.Kustomization{}
	ks.Spec.SourceRef.Kind, ks.Spec.Patches = sourcev1.GitRepositoryKind, []kustomize.Patch{{Patch: "$patch: delete"}}
	if trimKustomization(ks); ks.Spec.Patches != nil {
		t.Errorf("the cache has %v", ks.Spec.Patches)
	}
}
