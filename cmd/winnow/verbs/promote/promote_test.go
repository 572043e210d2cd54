// SPDX-License-Identifier: Apache-2.0

package promote

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
)

// With --approve, the commit is compared twice, and its artifacts are pulled once. What failed is tried again.
func TestArtifactsArePulledOnce(t *testing.T) {
	pulls := 0
	open := pullOnce(func(_ context.Context, address string, _ bool) (promotions.Artifact, error) {
		pulls++
		if address == "gone" {
			return promotions.Artifact{}, errors.New("it is gone")
		}
		return promotions.Artifact{Other: address}, nil
	})
	for range 2 {
		for i := range maxPulled + 1 {
			if got, err := open(t.Context(), fmt.Sprint(i), false); err != nil || got.Other != fmt.Sprint(i) {
				t.Fatalf("open(%d) = %v, %v", i, got, err)
			}
		}
		if _, err := open(t.Context(), "gone", false); err == nil {
			t.Error("an artifact that is gone was pulled")
		}
	}
	if want := maxPulled + 2 + 2; pulls != want {
		t.Errorf("%d pulls, want %d", pulls, want)
	}
}
