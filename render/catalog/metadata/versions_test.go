// SPDX-License-Identifier: Apache-2.0

package metadata_test

import (
	"testing"

	"github.com/winnow-dev/winnow/render/catalog/metadata"
)

func TestFactsOfAValueThatLoadingRefuses(t *testing.T) {
	for _, extra := range []any{nil, "text", []any{"1.0.0"}, map[string]any{"1.0.0": "stable"}, map[string]any{"1.0.0": map[string]any{"channels": "stable"}}} {
		if got := metadata.VersionsOf(extra); got != nil {
			t.Errorf("the facts of %v are %v, want none", extra, got)
		}
	}
}
