// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"strings"
	"testing"
)

// A change that is green, because the digest stays the same, makes the approval follow the digest. From then on a change of one
// line promotes and approves whatever it names: no reviewer has given an approval for exactly that.
func TestAnApprovalThatFollowsTheDigestApprovesNothing(t *testing.T) {
	apps := consuming("apps", "  prune: true\n")
	sync := fluxSystem(ownURL, "branch: main")
	anchored := func(release string) string {
		return strings.Replace(spoke(release, "", "catalog.winnow.dev/approve: &digest "+digestOf(release)), "{digest: "+digestOf(release)+"}", "{digest: *digest}", 1)
	}
	variable := func(release string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: stages, namespace: flux-system}\n" +
			"spec:\n  path: ./stages\n  prune: true\n  sourceRef: {kind: GitRepository, name: flux-system}\n  postBuild: {substitute: {digest: '" + digestOf(release) + "'}}\n---\n"
	}
	substituted := strings.Replace(spoke("v2", "", "catalog.winnow.dev/approve: ${digest}"), "{digest: "+digestOf("v2")+"}", "{digest: '${digest}'}", 1)
	const replacing = "resources: [sync.yaml, apps.yaml]\nreplacements:\n- source: {kind: OCIRepository, name: applications, fieldPath: spec.ref.digest}\n" +
		"  targets: [{select: {kind: OCIRepository}, options: {create: true}, fieldPaths: ['metadata.annotations.[catalog.winnow.dev/approve]']}]\n"
	assertNotGreen(t,
		attack{"an anchor", map[string]string{syncOfA: sync, stageInGit: anchored("v2") + apps}, map[string]string{stageInGit: anchored("v3") + apps}, nil},
		attack{"a variable of postBuild", map[string]string{syncOfA: sync + variable("v2"), "stages/apps.yaml": substituted + apps}, map[string]string{syncOfA: sync + variable("v3")}, nil},
		attack{"a replacement", map[string]string{syncOfA: sync, stageInGit: spoke("v2", "") + apps, "clusters/a/kustomization.yaml": replacing}, map[string]string{stageInGit: spoke("v3", "") + apps}, nil},
	)
}
