// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"strings"
	"testing"
)

// A file that nothing builds is compared as well, where it is a PATH: only its digest is.
func TestAStageInAFileThatNothingBuildsIsCompared(t *testing.T) {
	const file = "apps.yaml"
	apps := consuming("apps", "  prune: true\n")
	base := map[string]string{file: spoke("v2", "") + apps}
	of := func(name, content string) attack {
		return attack{name, base, map[string]string{file: content}, []string{file}}
	}
	assertNotGreen(t,
		of("the Kustomization drops what it applies by patches", spoke("v2", "")+consuming("apps", "  prune: true\n  patches: [{patch: '[{op: remove, path: /spec/versions/0}]', target: {name: argocd}}]\n")),
		of("the Kustomization applies another path", spoke("v2", "")+consuming("apps", "  prune: true\n  path: ./applications\n")),
		of("the Kustomization has another source", spoke("v2", "")+strings.Replace(apps, "kind: OCIRepository", "kind: GitRepository", 1)),
		of("the Kustomization leaves", spoke("v2", "")),
		of("both leave", emptyMap),
		of("the OCIRepository leaves files out", spoke("v2", "  ignore: /applications/loki.yaml\n")+apps),
	)
}
