// SPDX-License-Identifier: Apache-2.0

package live

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// A catalog of a selection that is gone must not keep watches of its kinds.
func TestNoKindsAreNotedOfASelectionThatIsForgotten(t *testing.T) {
	o := &Objects{}
	for _, of := range []types.UID{"x", "other"} {
		o.inspected.Store(of, nil)
	}
	o.Forget("x")
	var left []any
	o.inspected.Range(func(of, _ any) bool {
		left = append(left, of)
		return true
	})
	if len(left) != 1 || left[0] != types.UID("other") {
		t.Errorf("the kinds of %v are noted, want those of the other selection", left)
	}
}
