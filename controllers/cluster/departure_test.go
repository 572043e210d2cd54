package cluster

import (
	"errors"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// patchedConsumer returns a consumer, as the cache has it.
func patchedConsumer(namespace string, patches ...string) consumer {
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
		items []consumer
		fits  bool
	}{
		{"no consumer", nil, true},
		{"without patches", []consumer{patchedConsumer("flux-system")}, true},
		{"of the namespace", []consumer{patchedConsumer("flux-system", fit), patchedConsumer("flux-system", fit, unfit)}, false},
		{"that fit", []consumer{patchedConsumer("flux-system", fit)}, true},
		{"of the owner", []consumer{patchedConsumer("owner", unfit)}, false},
		{"of a stranger", []consumer{patchedConsumer("tenant", unfit)}, true},
		{"that are long", []consumer{patchedConsumer("flux-system", long)}, true},
		{"that are too long together", []consumer{patchedConsumer("flux-system", long), patchedConsumer("owner", long)}, false},
		{"of a stranger, that are too long", []consumer{patchedConsumer("tenant", long, long, long)}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := &liveMeta{}
			object.SetGroupVersionKind(schema.FromAPIVersionAndKind("apps.kubermatic.k8c.io/v1", "ApplicationDefinition"))
			object.SetName("argocd")
			object.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "owner"})
			cs := &v1alpha1.CatalogSelection{}
			cs.Namespace = "flux-system"
			d := newDeparture(cs, map[safeguard.Key]*liveMeta{keyOf(object): object}, time.Unix(0, 0))
			err := Consumers{Known: true, items: test.items}.fit(cs, d)
			var handover *HandoverError
			if errors.As(err, &handover) == test.fits {
				t.Errorf("fit() = %v, and they fit is %t", err, test.fits)
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
