// SPDX-License-Identifier: Apache-2.0

package holders

// Standing is how a selection stands to one object.
type Standing struct {
	// Owns is true if the owner labels of the live object name one of its Kustomizations, whose inventory has the object.
	Owns bool
	// Gives is true if its render lacks the object, and has passed the guard.
	Gives bool
	// Published is true if it has published the object. Claims is true if it has, or may do so once no other selection has the object.
	Claims, Published bool
	// Failing is true if one of its Kustomizations has failed, or all are suspended and own nothing.
	Failing bool
	// OwnsLike is true if one of its Kustomizations owns a live object of the same kind and namespace.
	OwnsLike bool
	// Old is true if this process has seen the claim for longer than Patience.
	Old bool
}

// Yields reports whether a selection leaves an object to another one. Of two that know the same, one yields at most, and exactly one
// unless both claims are worth nothing:
//
//  1. A selection that gives up an object has it no more.
//  2. The owner of the live object has it.
//  3. A claim is worth nothing while its Kustomizations fail. An old claim is worth nothing, unless it is published and its selection
//     owns something like the object. To a selection whose own claim is old, a claim counts only if it is published, or if its selection
//     owns something like the object.
//  4. A selection that owns something like the object comes first: a tenant can claim a kind that it never applies.
//  5. A published claim comes before one that is not.
//  6. The older selection comes first.
func Yields(mine, other Standing, older bool) bool {
	switch {
	case other.Gives:
		return false
	case other.Owns || mine.Owns:
		return other.Owns
	case !other.Claims || other.Failing || other.Old && (!other.OwnsLike || !other.Published):
		return false
	case mine.Old && !other.OwnsLike && !other.Published:
		return false
	case other.OwnsLike != mine.OwnsLike:
		return other.OwnsLike
	case other.Published != mine.Published:
		return other.Published
	}
	return older
}
