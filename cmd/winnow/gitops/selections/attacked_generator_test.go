// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"strings"
	"testing"
)

// source-watcher makes an ExternalArtifact of the artifact that the OCIRepository has pulled: the Kustomization gets another
// one with another digest.
func TestAStageBehindAnArtifactGeneratorIsNotTheSame(t *testing.T) {
	const generator = "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: generator, namespace: flux-system}\nspec:\n" +
		"  sources: [{alias: all, kind: OCIRepository, name: applications}]\n  artifacts: [{name: made, copy: [{from: '@all/**', to: '@artifact/'}]}]\n---\n"
	apps := generator + strings.Replace(consuming("apps", "  prune: true\n"), "kind: OCIRepository, name: applications", "kind: ExternalArtifact, name: made", 1)
	sync := fluxSystem(ownURL, "branch: main")
	assertNotGreen(t, attack{"a digest without loki", map[string]string{syncOfA: sync, stageInGit: spoke("v2", "") + apps}, map[string]string{stageInGit: spoke("v3", "") + apps}, nil})
}
