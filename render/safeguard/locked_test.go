package safeguard_test

import (
	"testing"

	"github.com/winnow-dev/winnow/render/safeguard"
)

// Whoever approves another application for a release is told of the values that change with it.
func TestALockedValueOfAnotherApplication(t *testing.T) {
	locking := func(words, all string, locked map[string]string) []safeguard.Definition {
		list := instances(words)
		list[0].Locked = map[string]string{"": all}
		for path, digest := range locked {
			list[0].Locked[path] = digest
		}
		return list
	}
	before := locking("a=app:1.0.0", "x", map[string]string{"cidr": "1"})
	identity := "IdentityChange a application app>other"
	equal(t, lines(safeguard.Compare(before, locking("a=other:1.0.0", "y", map[string]string{"cidr": "2"}))), []string{identity, "LockedValue a cidr 1>2"})
	equal(t, lines(safeguard.Compare(before, locking("a=other:1.0.0", "y", map[string]string{"cidr": "1"}))), []string{identity})
	equal(t, lines(safeguard.Compare(before, locking("a=other:1.0.0", "y", nil))), []string{identity})
}
