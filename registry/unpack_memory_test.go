// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"

	"github.com/winnow-dev/winnow/registry"
)

// measured calls before for each layer before it is fetched.
type measured struct {
	content.Fetcher
	before func()
}

func (m measured) Fetch(ctx context.Context, target v1.Descriptor) (io.ReadCloser, error) {
	m.before()
	return m.Fetcher.Fetch(ctx, target)
}

// A path that ends with a megabyte of slashes is as short as any other.
func TestCostOfTheEntriesOfALayer(t *testing.T) {
	const entries, limit = 32, 8 << 20
	long := make([]entry, entries)
	for i := range long {
		long[i] = entry{name: fmt.Sprintf("configs/%d%s", i, strings.Repeat("/", 1_000_000))}
	}
	image, from := imageOf(v1.MediaTypeImageLayerGzip, zipped(layerOf(t, entry{name: "configs/a", content: "a"})), zipped(layerOf(t, long...)))
	var used []uint64
	err := image.Unpack(t.Context(), measured{from, func() {
		var memory runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&memory)
		used = append(used, memory.HeapAlloc)
	}}, "configs", io.Discard, registry.UnpackLimits{})
	if err != nil || len(used) != 2 {
		t.Fatalf("Unpack() = %v, after %d layers", err, len(used))
	}
	if used[1] > used[0]+limit {
		t.Errorf("the entries of a layer take %d MB", (used[1]-used[0])>>20)
	}
}
