// SPDX-License-Identifier: Apache-2.0

package holders

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/render/safeguard"
)

// Whoever follows the message must not delete what runs.
func TestTheAdviceOfAConflictDeletesNothing(t *testing.T) {
	argocd := safeguard.KeyOf("apps.kubermatic.k8c.io", "ApplicationDefinition", "", "argocd")
	release := safeguard.KeyOf("helm.toolkit.fluxcd.io", "HelmRelease", "apps", "argocd")
	installed := safeguard.Key{Group: "helm.sh", Kind: "Release", Namespace: "apps", Name: "argocd"}
	alpha, apps := types.NamespacedName{Namespace: "team", Name: "alpha"}, types.NamespacedName{Namespace: "team", Name: "apps"}
	for _, test := range []struct {
		name string
		key  safeguard.Key
		by   Holder
		want string
	}{
		{"with a selection that reserved it", argocd, Holder{Selection: alpha},
			"the CatalogSelection team/alpha holds argocd as well; exclude them by spec.exclude here, or there to move them here; nothing is deleted"},
		{"with a selection", argocd, Holder{Kustomization: apps, Source: "ExternalArtifact alpha", Selection: alpha},
			"the CatalogSelection team/alpha, by its Kustomization team/apps, holds argocd as well; exclude them by spec.exclude here, or there to move them here; nothing is deleted"},
		{"with a selection that is gone", argocd, Holder{Kustomization: apps, Source: "ExternalArtifact alpha"},
			"the Kustomization team/apps of the ExternalArtifact alpha holds argocd as well; exclude them by spec.exclude here, or, if nothing publishes that " +
				"ExternalArtifact any more, set spec.deletionPolicy: Orphan on that Kustomization, and delete it once that is in the cluster; " +
				"without Orphan, Flux deletes the objects with it"},
		{"with another source", argocd, Holder{Kustomization: apps, Source: "GitRepository fleet"},
			"the Kustomization team/apps of the GitRepository fleet holds argocd as well; exclude them by spec.exclude here, or annotate them in that source with " +
				"kustomize.toolkit.fluxcd.io/prune: disabled, wait until the live objects have it, and remove them from that source; without the annotation, Flux deletes them"},
		{"of an instance with another source", release, Holder{Kustomization: apps, Source: "GitRepository fleet"},
			"the Kustomization team/apps of the GitRepository fleet holds HelmRelease apps/argocd as well; rename or remove them here, or annotate " +
				"them in that source with kustomize.toolkit.fluxcd.io/prune: disabled, wait until the live objects have it, and remove them from that source; " +
				"without the annotation, Flux deletes them"},
		{"with a HelmRelease by hand", installed, Holder{HelmRelease: release},
			"the HelmRelease apps/argocd, which no Kustomization has applied, holds Release apps/argocd as well; rename or remove them here, or " +
				"suspend that HelmRelease where it is written, and delete it once it is suspended in the cluster: helm-controller uninstalls nothing then"},
		{"with a HelmRelease of another source", installed, Holder{HelmRelease: release, Kustomization: apps, Source: "GitRepository fleet"},
			"the HelmRelease apps/argocd of the Kustomization team/apps holds Release apps/argocd as well; rename or remove them here, or " +
				"suspend that HelmRelease where it is written, and delete it once it is suspended in the cluster: helm-controller uninstalls nothing then"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := conflict(map[safeguard.Key]Holder{test.key: test.by}).Error(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestAConflictNamesTheObjectsOfTheFirstHolder(t *testing.T) {
	held := map[safeguard.Key]Holder{}
	for _, name := range strings.Split("abcdefghijkl", "") {
		held[safeguard.KeyOf("apps.kubermatic.k8c.io", "ApplicationDefinition", "", name)] = Holder{Selection: types.NamespacedName{Namespace: "team", Name: "alpha"}}
	}
	held[safeguard.KeyOf("apps.kubermatic.k8c.io", "ApplicationDefinition", "", "z")] = Holder{Selection: types.NamespacedName{Namespace: "team", Name: "beta"}}
	const want = "the CatalogSelection team/alpha holds a, b, c, d, e, f, g, h, i, j and 2 more as well, and others hold 1 more; " +
		"exclude them by spec.exclude here, or there to move them here; nothing is deleted"
	if got := conflict(held).Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
