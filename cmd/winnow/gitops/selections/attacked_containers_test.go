// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"strings"
	"testing"
)

// Where a CatalogSelection is lost in this way, the report says so. A spoke has none.
func TestWhatDeletesAStageIsUnknown(t *testing.T) {
	apps := consuming("apps", "  prune: true\n")
	stage := spoke("v2", "") + apps
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: applicationdefinitions.apps.kubermatic.k8c.io}\n" +
		"spec: {group: apps.kubermatic.k8c.io}\n"
	sync := fluxSystem(ownURL, "branch: main")
	two := sync + ofFlux("one", "one", "") + ofFlux("two", "two", "")
	assertNotGreen(t,
		attack{
			"the namespace of its Kustomization",
			map[string]string{syncOfA: sync, stageInGit: strings.ReplaceAll(stage, "namespace: flux-system", "namespace: fleet"), "clusters/a/namespace.yaml": ownNamespace},
			map[string]string{"clusters/a/namespace.yaml": ""}, nil,
		},
		attack{
			"the CustomResourceDefinition of what it has",
			map[string]string{syncOfA: sync, stageInGit: stage, "clusters/a/crd.yaml": crd}, map[string]string{"clusters/a/crd.yaml": ""}, nil,
		},
		attack{
			"its Kustomization is applied by another one, and the former one prunes it",
			map[string]string{syncOfA: two, "one/apps.yaml": stage, "two/one.yaml": emptyMap},
			map[string]string{"one/apps.yaml": emptyMap, "two/apps.yaml": stage}, nil,
		},
	)
}
