// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// The blocks of the guide are part of the example that the end-to-end tests apply, or match the API.
func TestFleetGuideShowsTheExample(t *testing.T) {
	shown := 0
	for _, block := range yamlBlock.FindAllStringSubmatch(readFileString(t, "../../docs/guides/fleet.md"), -1) {
		if showsExample(t, "../../examples/fleet", block[1]) {
			shown++
			continue
		}
		var head metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(block[1]), &head); err != nil {
			t.Fatal(err)
		}
		object := map[string]any{v1alpha1.CatalogSelectionKind: &v1alpha1.CatalogSelection{}, sourcev1.OCIRepositoryKind: &sourcev1.OCIRepository{}}[head.Kind]
		if object == nil {
			t.Fatalf("a block is neither of the example nor of a kind that is known:\n%s", block[1])
		}
		if err := yaml.UnmarshalStrict([]byte(block[1]), object); err != nil {
			t.Errorf("%v:\n%s", err, block[1])
		}
	}
	if shown < 4 {
		t.Errorf("the guide shows %d parts of the example", shown)
	}
}
