// SPDX-License-Identifier: Apache-2.0

package bench

import "strings"

// words of which texts are made.
var words = strings.Fields(`amber anchor apple arrow aspen atlas basil beacon birch bridge canyon cedar citrus cliff clover
	cobalt copper coral crater delta dune ember falcon fern fjord flint forest garnet glacier granite grove harbor hazel heron
	indigo iris island ivory jasper juniper kelp lagoon larch laurel lemon lilac linen lotus maple marble meadow mint moss
	nectar nickel north oak oasis olive onyx opal orbit orchid otter pebble pine plum prairie quartz quill raven reef ridge
	river robin rowan saffron sage salmon sierra silver slate spruce summit tansy thistle tide timber topaz tundra valley
	velvet violet walnut willow yarrow zenith`)

func (o operator) word() string { return words[o.IntN(len(words))] }

// title returns a word with a capital.
func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// sentence returns one of about n words.
func (o operator) sentence(n int) string {
	text := make([]string, 2+o.IntN(2*n))
	for i := range text {
		text[i] = o.word()
	}
	return title(strings.Join(text, " ")) + "."
}

// markdown returns a description with headings, lists and code.
func (o operator) markdown() string {
	var text strings.Builder
	for range 1 + o.IntN(5) {
		text.WriteString("## " + title(o.word()) + "\n" + o.sentence(15) + " " + o.sentence(15) + "\n\n")
		for range o.IntN(5) {
			text.WriteString("* **" + o.word() + "**: " + o.sentence(8) + "\n")
		}
		text.WriteString("\n```yaml\n" + o.word() + ": \"" + o.word() + "\" # " + o.word() + "\n```\n\n")
	}
	return strings.TrimSpace(text.String())
}
