// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

func TestAStepIsNotDividedFromItsNotes(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out)
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() { p.stepWith("building", "a", "b") })
		group.Go(func() { p.note("of another one") })
	}
	group.Wait()
	if n := strings.Count(out.String(), "==> building\n    a\n    b\n"); n != 50 {
		t.Errorf("%d of 50 steps have their notes below them:\n%s", n, out.String())
	}
}
