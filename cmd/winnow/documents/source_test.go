// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
)

func TestTheFilterOfASource(t *testing.T) {
	text := func(s string) *string { return &s }
	seen := map[string]repositorySpec{}
	for _, spec := range []repositorySpec{
		{}, {Ignore: text("")}, {Ignore: text("a")}, {Ignore: text("a\nb")},
		{LayerSelector: sourcev1.OCILayerSelector{MediaType: "a"}}, {LayerSelector: sourcev1.OCILayerSelector{MediaType: "a", Operation: "copy"}},
		{LayerSelector: sourcev1.OCILayerSelector{Operation: "copy"}}, {Ignore: text("a"), LayerSelector: sourcev1.OCILayerSelector{MediaType: "a"}},
	} {
		if other, taken := seen[spec.filter()]; taken {
			t.Errorf("%+v has the filter of %+v", spec, other)
		}
		seen[spec.filter()] = spec
	}
	byDefault := repositorySpec{LayerSelector: sourcev1.OCILayerSelector{Operation: "extract"}}
	if byDefault.filter() != (repositorySpec{}).filter() {
		t.Error("what Flux does by default differs from nothing")
	}
}
