// SPDX-License-Identifier: Apache-2.0

package holders

// Standing is how a selection stands to one object.
type Standing struct {
	// Owns is true if the owner labels of the live object name one of its Kustomizations, whose inventory has the object.
	Owns bool
	// Gives is true if its render lacks the object, and has passed the guard.
	Gives bool
	// Claims is true if it has published the object, or may publish it as soon as nobody else has it; Published, if it has.
	Claims, Published bool
	// Failing is true if one of its Kustomizations has failed, or all are suspended and own nothing.
	Failing bool
	// Settled is true if one of its Kustomizations owns a live object of the same kind and namespace.
	Settled bool
	// Old is true if this process has seen the claim for longer than Patience.
	Old bool
}

// Yields reports whether a selection leaves an object to another one. Of two that know the same, one yields at most, and exactly one
// unless both claims are worth nothing:
//
//  1. Who gives up an object has it no more.
//  2. Who owns the live object has it.
//  3. A claim has nothing while the Kustomizations behind it fail, or once it is old, unless it is published by one that owns something
//     like the object. To who has waited for as long, a claim counts only if it is published, or by one that owns something like it.
//  4. Who owns something like the object comes first: anybody can write the first object of a kind in a namespace of its own.
//  5. What is published comes before what is not.
//  6. The older selection comes first.
func Yields(mine, other Standing, older bool) bool {
	switch {
	case other.Gives:
		return false
	case other.Owns || mine.Owns:
		return other.Owns
	case !other.Claims || other.Failing || other.Old && (!other.Settled || !other.Published):
		return false
	case mine.Old && !other.Settled && !other.Published:
		return false
	case other.Settled != mine.Settled:
		return other.Settled
	case other.Published != mine.Published:
		return other.Published
	}
	return older
}
