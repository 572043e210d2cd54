// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render"
)

func TestCostOfAnArtifactOfTooManyObjects(t *testing.T) {
	files := []string{"kustomization.yaml", "resources: []\n"}
	for n := range 10_001 {
		files = append(files, fmt.Sprintf("applicationdefinitions/a%d.yaml", n), strings.Replace(artifactDefinition, "argocd", fmt.Sprintf("a%d", n), 1))
	}
	_, err := render.ReadResult(t.Context(), packed(t, files...))
	if err == nil || !strings.Contains(err.Error(), "the artifact has 10001 objects, and at most 10000 are compared") {
		t.Errorf("ReadResult() = %v", err)
	}
}
