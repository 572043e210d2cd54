// SPDX-License-Identifier: Apache-2.0

package selections

import "testing"

// What a cluster gets from then on is another branch, which no check has seen: with an older digest, or without the stage.
func TestAClusterThatFollowsAnotherBranchIsUnknown(t *testing.T) {
	stage := spoke("v2", "") + consuming("apps", "  prune: true\n")
	base := map[string]string{syncOfA: fluxSystem(ownURL, "branch: main"), stageInGit: stage}
	child := map[string]string{syncOfA: fluxSystem(ownURL, "branch: main") + gitRepository("infra", "branch: main") + fromInfra, "infra/apps.yaml": stage}
	assertNotGreen(t,
		attack{"another branch", base, map[string]string{syncOfA: fluxSystem(ownURL, "branch: mine")}, nil},
		attack{"another branch by its name", base, map[string]string{syncOfA: fluxSystem(ownURL, "name: refs/heads/mine")}, nil},
		attack{"another port of the host", base, map[string]string{syncOfA: fluxSystem("https://git.example.com:8443/org/fleet", "branch: main")}, nil},
		attack{"the branch of a Kustomization", child, map[string]string{syncOfA: fluxSystem(ownURL, "branch: main") + gitRepository("infra", "branch: mine") + fromInfra}, nil},
	)
}

const fromInfra = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: infra, namespace: flux-system}\n" +
	"spec:\n  path: ./infra\n  prune: true\n  sourceRef: {kind: GitRepository, name: infra}\n---\n"

func gitRepository(name, ref string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
		"spec:\n  url: " + ownURL + "\n  ref: {" + ref + "}\n---\n"
}
