// SPDX-License-Identifier: Apache-2.0

package promotions

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/render"
)

// Comparisons that share a registry pull an artifact once, also one that is gone, but nothing of a pull that was cancelled is kept.
func TestArtifactsArePulledOnce(t *testing.T) {
	pulls := 0
	r := NewRegistry(func(ctx context.Context, address string, _ bool) (render.Artifact, error) {
		pulls++
		if address == "gone" {
			return render.Artifact{}, errors.New("it is gone")
		}
		return render.Artifact{Other: address}, ctx.Err()
	})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Pull(cancelled, documents.Reference{Catalog: "0"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Pull() = %v, want that it is cancelled", err)
	}
	for range 2 {
		for i := range maxKept - 1 {
			if got, err := r.Pull(t.Context(), documents.Reference{Catalog: fmt.Sprint(i)}); err != nil || got.Other != fmt.Sprint(i) {
				t.Fatalf("Pull(%d) = %v, %v", i, got, err)
			}
		}
		if _, err := r.Pull(t.Context(), documents.Reference{Catalog: "gone"}); err == nil {
			t.Error("an artifact that is gone was pulled")
		}
	}
	if want := 1 + maxKept; pulls != want {
		t.Errorf("%d pulls, want %d", pulls, want)
	}
}
