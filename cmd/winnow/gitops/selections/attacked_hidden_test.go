// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"strings"
	"testing"
)

// A directory that leads to no selection is not built. What leads to one, or to a stage, without the text of its API group, is
// not found.
func TestAKustomizationThatIsComposedIsFollowed(t *testing.T) {
	sync := fluxSystem(ownURL, "branch: main") + ofFlux("tenant", "tenant", "  postBuild: {substitute: {dot: .}}\n")
	base := map[string]string{syncOfA: sync, stageInGit: spoke("v2", "") + consuming("apps", "  prune: true\n"), "tenant/one.yaml": emptyMap}
	other := strings.ReplaceAll(spoke("v3", "")+consuming("theirs", ""), "applications", "theirs")
	as := func(written string) string {
		return strings.ReplaceAll(other, "apiVersion: kustomize.toolkit.fluxcd.io/v1", written)
	}
	assertNotGreen(t,
		attack{"as it is", base, map[string]string{"tenant/two.yaml": other}, nil},
		attack{"a variable", base, map[string]string{"tenant/two.yaml": as("apiVersion: kustomize${dot}toolkit.fluxcd.io/v1")}, nil},
		attack{"a replacement", base, map[string]string{
			"tenant/two.yaml": as("apiVersion: x/v1") + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: group, namespace: default}\ndata: {group: kustomize.toolkit.fluxcd.io}\n",
			"tenant/kustomization.yaml": "resources: [one.yaml, two.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: group, fieldPath: data.group}\n" +
				"  targets: [{select: {kind: Kustomization}, options: {delimiter: /, index: 0}, fieldPaths: [apiVersion]}]\n",
		}, nil},
	)
}
