// SPDX-License-Identifier: Apache-2.0

package upgrades

import "github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"

// sides are the objects before and after, without those that are the same text.
type sides struct{ from, to objects }

// readSides returns the objects of both sides. The problems are what cannot be read.
func readSides(before, after []rendering.Manifest, namespace string) (s sides, problems []string) {
	same := unchanged(before, after)
	s.from, problems = read(before, namespace, same)
	to, more := read(after, namespace, same)
	s.to = to
	return s, append(problems, more...)
}

// unchanged returns the texts that both sides have: objects that stay as they are.
func unchanged(from, to []rendering.Manifest) map[string]bool {
	before, both := map[string]string{}, map[string]bool{}
	for _, m := range from {
		before[m.Path+"\x00"+m.Text] = m.Text
	}
	for _, m := range to {
		if text, ok := before[m.Path+"\x00"+m.Text]; ok {
			both[text] = true
		}
	}
	return both
}
