// SPDX-License-Identifier: Apache-2.0

package holders

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Digest is the form of a key in status.claim.
type Digest [8]byte

// DigestOf returns the digest of a key.
func DigestOf(key safeguard.Key) Digest {
	sum := sha256.Sum256([]byte(key.String()))
	return Digest(sum[:len(Digest{})])
}

func digestsOf(keys inventory.Keys) map[Digest]bool {
	digests := make(map[Digest]bool, len(keys))
	for key := range keys {
		digests[DigestOf(key)] = true
	}
	return digests
}

// Pack returns keys in the form of status.claim: their digests, sorted; nil for none.
func Pack(keys inventory.Keys) []byte {
	return join(slices.Collect(maps.Keys(digestsOf(keys))))
}

// Withhold makes what a claim has published what is about to be published.
func Withhold(claim *v1alpha1.Claim) {
	claim.Keys, claim.Published = join(append(unpack(claim.Keys), unpack(claim.Published)...)), nil
}

func join(digests []Digest) []byte {
	slices.SortFunc(digests, func(a, b Digest) int { return bytes.Compare(a[:], b[:]) })
	var packed []byte
	for _, digest := range slices.Compact(digests) {
		packed = append(packed, digest[:]...)
	}
	return packed
}

// unpack returns the digests in status.claim. What is left of a cut one is none.
func unpack(packed []byte) []Digest {
	digests := make([]Digest, 0, len(packed)/len(Digest{}))
	for chunk := range slices.Chunk(packed, len(Digest{})) {
		if len(chunk) == len(Digest{}) {
			digests = append(digests, Digest(chunk))
		}
	}
	return digests
}

// setOf returns the digests in a field of status.claim.
func setOf(packed []byte) map[Digest]bool {
	set := map[Digest]bool{}
	for _, key := range unpack(packed) {
		set[key] = true
	}
	return set
}
