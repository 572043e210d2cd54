// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"os"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/kustomized"
)

func TestAnEmptySelectionIsRenderedOnlyWhenTheSpecSaysSo(t *testing.T) {
	empty := func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{"none"}}}
		cs.Spec.Safeguards.OnEmpty = v1alpha1.SafeguardPublish
	}
	result, err := renderFS(t.Context(), os.DirFS("../examples/catalog"), selectionOf(empty))
	if err != nil {
		t.Fatal(err)
	}
	built, err := kustomized.YAML(result.Tree)
	if err != nil {
		t.Fatalf("kustomize cannot build it: %v\n%s", err, files(result.Tree)["kustomization.yaml"])
	}
	if len(built) > 0 || len(result.Definitions) > 0 {
		t.Errorf("built %s, listed %v", built, result.Definitions)
	}
}
