// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"errors"
	"os"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/kustomized"
)

func TestAnEmptySelectionIsRenderedOnlyWhereItIsAllowed(t *testing.T) {
	empty := func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{"none"}}}
	}
	cs, examples := selectionOf(empty), os.DirFS("../examples/catalog")
	_, err := renderFS(t.Context(), examples, cs)
	if refused, ok := errors.AsType[*render.Error](err); !ok || refused.Reason() != v1alpha1.EmptyResultReason {
		t.Errorf("without AllowEmpty the error is %v", err)
	}
	result, err := renderWith(t.Context(), examples, cs, true)
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
