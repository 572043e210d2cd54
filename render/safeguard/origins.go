// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"errors"
	"strings"

	"github.com/winnow-dev/winnow/render/each"
)

// Origins are the digests of the origins of versions, as in identity.Facts. In records, which have
// thousands of definitions, they are encoded as one string: the length of a digest, then all digests.
type Origins []string

// shortOrigin is the least length of a digest that is compared. Records that would be too large have
// digests of this length, 24 bits: enough to find mistakes, but not to withstand a search for another
// chart with the same digest.
const shortOrigin = 4

// unknownOrigin is the padding for an unknown origin; it occurs in no digest.
const unknownOrigin = "."

// Short returns the digests, cut to shortOrigin.
func (o Origins) Short() Origins {
	return each.Map(o, func(origin string) string { return origin[:min(len(origin), shortOrigin)] })
}

// sameOrigin reports whether two known digests are equal, as far as the shorter one goes.
func sameOrigin(a, b string) bool {
	shared := min(len(a), len(b))
	return a[:shared] == b[:shared]
}

// known reports whether a digest is long enough to be compared.
func known(origin string) bool { return len(origin) >= shortOrigin }

// errOrigins is returned for a text that does not encode digests.
var errOrigins = errors.New("these are no digests of origins")

// MarshalText implements encoding.TextMarshaler.
func (o Origins) MarshalText() ([]byte, error) {
	length := 0
	for _, origin := range o {
		length = max(length, len(origin))
	}
	if length > 9 {
		return nil, errOrigins
	}
	text := []byte{'0' + byte(length)}
	for _, origin := range o {
		text = append(text, origin...)
		text = append(text, strings.Repeat(unknownOrigin, length-len(origin))...)
	}
	return text, nil
}

// UnmarshalText implements encoding.TextUnmarshaler. The text is untrusted.
func (o *Origins) UnmarshalText(text []byte) error {
	if len(text) == 0 || text[0] < '0'+shortOrigin || text[0] > '9' {
		return errOrigins
	}
	length, rest := int(text[0]-'0'), string(text[1:])
	if len(rest)%length != 0 {
		return errOrigins
	}
	*o = nil
	for ; rest != ""; rest = rest[length:] {
		*o = append(*o, strings.TrimRight(rest[:length], unknownOrigin))
	}
	return nil
}
