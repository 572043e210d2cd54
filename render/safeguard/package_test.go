// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
)

// long is a package with a channel of n versions, whose entries have ranges that no version is in.
func long(t *testing.T, prefix string, n int) *Package {
	t.Helper()
	var text strings.Builder
	text.WriteString("{schema: olm.package, name: plum, defaultChannel: stable}\n---\nschema: olm.channel\npackage: plum\nname: stable\nentries:\n")
	for i := range n {
		fmt.Fprintf(&text, "- {name: %s%d, replaces: %s%d, skipRange: <0.0.%d}\n", prefix, i, prefix, i-1, i)
	}
	for i := range n {
		fmt.Fprintf(&text, "---\n{schema: olm.bundle, package: plum, name: %s%d, image: x, properties: [{type: olm.package, value: {packageName: plum, version: 1.0.%d}}]}\n", prefix, i, i)
	}
	loaded, err := filebased.Load(t.Context(), fstest.MapFS{"plum.yaml": {Data: []byte(text.String())}})
	if err != nil {
		t.Fatal(err)
	}
	return NewPackage(loaded.Packages[0])
}

// A channel may have thousands of entries, and each skipRange takes microseconds to parse.
func TestEachSkipRangeIsParsedOnce(t *testing.T) {
	const n = 200
	before, now := []Definition{{Name: "plum", Package: long(t, "old", n)}}, []Definition{{Name: "plum", Package: long(t, "new", n)}}
	changes := Compare(before, now)
	if len(changes) != 1 || len(changes[0].Versions) != n {
		t.Fatalf("%d changes, want one with %d versions", len(changes), n)
	}
	if allocations := testing.AllocsPerRun(1, func() { Compare(before, now) }); allocations > 100*n {
		t.Errorf("%v allocations compare channels of %d entries", allocations, n)
	}
}
