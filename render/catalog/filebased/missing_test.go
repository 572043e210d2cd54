// SPDX-License-Identifier: Apache-2.0

package filebased

import "testing"

// A bundle that names a dependency twice is one bundle.
func TestEachBundleOfAMissingDependencyCountsOnce(t *testing.T) {
	plum, pear := Dependency{Type: PackageRequired, Package: "plum"}, Dependency{Type: PackageRequired, Package: "pear"}
	p := &Package{Bundles: []*Bundle{{Name: "b", Dependencies: []Dependency{plum, pear, plum}}, {Name: "a", Dependencies: []Dependency{pear, pear}}}}
	got := p.Missing(func(Dependency) bool { return true })
	if len(got) != 2 || got[0].Dependency != plum || got[0].Further() != "" || got[1].Dependency != pear || got[1].Further() != "; further versions with it: 1" {
		t.Errorf("%+v", got)
	}
}
