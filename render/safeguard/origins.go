package safeguard

import (
	"errors"
	"strings"
)

// Origins are digests of where versions come from, as identity.Facts has them. As text, in records of
// thousands of definitions, they are one string: their length, then one after the other.
type Origins []string

// shortOrigin is the least length of a digest that says anything. Records that would be too large have
// digests of this length, of 24 bits: enough for mistakes, but not for one who looks for another chart
// with the same digest.
const shortOrigin = 4

// unknownOrigin fills the place of one that is not known; no digest has it.
const unknownOrigin = "."

// Short returns digests that take less room, the same ones where they do not get shorter.
func (o Origins) Short() Origins {
	short := make(Origins, len(o))
	for i, origin := range o {
		short[i] = origin[:min(len(origin), shortOrigin)]
	}
	return short
}

// sameOrigin compares two digests that are both known, by as much as both have.
func sameOrigin(a, b string) bool {
	shared := min(len(a), len(b))
	return a[:shared] == b[:shared]
}

// known reports whether a digest is long enough to be compared.
func known(origin string) bool { return len(origin) >= shortOrigin }

// errOrigins says that a text is none of digests.
var errOrigins = errors.New("these are no digests of origins")

// MarshalText is part of encoding.TextMarshaler.
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

// UnmarshalText is part of encoding.TextUnmarshaler. The text is untrusted.
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
