// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/render/guard"
)

func TestTheFilterOfASource(t *testing.T) {
	text := func(s string) *string { return &s }
	if got := guard.FilterOf(nil, "", "extract"); got != "" {
		t.Errorf("what Flux does by default is %q", got)
	}
	var all []string
	for _, f := range []struct {
		ignore               *string
		mediaType, operation string
	}{
		{nil, "", ""}, {text(""), "", ""}, {text("unset"), "", ""}, {text("a"), "", ""}, {text("a\nb"), "", ""}, {nil, "a", ""}, {nil, "a", "copy"},
		{nil, "", "copy"}, {text("a"), "a", ""},
	} {
		filter := guard.FilterOf(f.ignore, f.mediaType, f.operation)
		if slices.Contains(all, filter) || len(filter) > 32 {
			t.Errorf("%v %q %q is %q, as another one", f.ignore, f.mediaType, f.operation, filter)
		}
		all = append(all, filter)
	}
}
