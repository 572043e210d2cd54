// SPDX-License-Identifier: Apache-2.0

package holders

import "testing"

func TestYields(t *testing.T) {
	claims := Standing{Claims: true}
	published, likeOwner := Standing{Claims: true, Published: true}, Standing{Claims: true, OwnsLike: true}
	owner := Standing{Claims: true, Published: true, OwnsLike: true, Owns: true}
	with := func(s Standing, f func(*Standing)) Standing { f(&s); return s }
	failing, old := func(s *Standing) { s.Failing = true }, func(s *Standing) { s.Old = true }
	for _, test := range []struct {
		name        string
		mine, other Standing
		older, want bool
	}{
		{"to the owner of the live object", claims, owner, false, true},
		{"to the owner of the live object, whose Kustomization fails", claims, with(owner, failing), false, true},
		{"to nobody who gives the object up", claims, with(owner, func(s *Standing) { s.Gives = true }), true, false},
		{"to nobody if it owns the object", owner, published, true, false},
		{"to the older one", claims, claims, true, true},
		{"not to the younger one", claims, claims, false, false},
		{"to what is published", claims, published, false, true},
		{"to what is published, as a younger one that has published as well", published, published, true, true},
		{"to one that owns something like it, though it is older and published", published, likeOwner, false, true},
		{"not to what is published by one that owns nothing like it", likeOwner, published, true, false},
		{"not to one whose Kustomization fails", claims, with(published, failing), true, false},
		{"not to an old claim of one that owns nothing like it", claims, with(published, old), true, false},
		{"to an old claim, once published, of one that owns something like it", claims, with(with(likeOwner, old), func(s *Standing) { s.Published = true }), false, true},
		{"not to an old claim that was never published", claims, with(likeOwner, old), false, false},
		{"not to an older one that owns nothing like it, after a wait", with(claims, old), claims, true, false},
		{"not to one that claims nothing", claims, Standing{OwnsLike: true}, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Yields(test.mine, test.other, test.older); got != test.want {
				t.Errorf("Yields() = %v", got)
			}
		})
	}
}

// standingsOf returns all combinations of the fields.
func standingsOf() []Standing {
	var all []Standing
	for bits := range 1 << 7 {
		bit := func(n int) bool { return bits&(1<<n) != 0 }
		all = append(all, Standing{Owns: bit(0), Gives: bit(1), Claims: bit(2), Published: bit(3), Failing: bit(4), OwnsLike: bit(5), Old: bit(6)})
	}
	return all
}

// Of two that know the same, both never publish, and both wait only if neither claim is worth anything.
func TestOfTwoOneYields(t *testing.T) {
	weak := func(s Standing) bool {
		return s.Gives || !s.Claims || s.Failing || s.Old && (!s.OwnsLike || !s.Published)
	}
	for _, a := range standingsOf() {
		for _, b := range standingsOf() {
			if a.Owns && b.Owns {
				continue // an object has one owner
			}
			first, second := Yields(a, b, true), Yields(b, a, false)
			if first && second && !a.Gives && !b.Gives {
				t.Fatalf("both yield: %+v, %+v", a, b)
			}
			if owns := a.Owns && !a.Gives || b.Owns && !b.Gives; !first && !second && !weak(a) && !weak(b) || !first && !second && owns {
				t.Fatalf("neither yields: %+v, %+v", a, b)
			}
		}
	}
}
