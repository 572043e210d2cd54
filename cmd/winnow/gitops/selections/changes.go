package selections

import (
	"fmt"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
)

// eachSource calls f with every source that both commits of a selection have.
func (c *comparison) eachSource(p pair, f func(name string, before, after reference)) {
	if p.from == nil || p.to == nil {
		return
	}
	for _, was := range p.from.Spec.Sources {
		kind, name := guard.SourceKey(p.from.CatalogSelection, was)
		for _, is := range p.to.Spec.Sources {
			if other, same := guard.SourceKey(p.to.CatalogSelection, is); kind != other || name != same {
				continue
			}
			before, _ := c.base.reference(*p.from, was) // what it leads to does not matter here
			after, _ := c.head.reference(*p.to, is)
			if before.document != "" && after.document != "" {
				f(kind+" "+name.Name, before, after)
			}
			break
		}
	}
}

// resumed says what begins to act on what was committed while it was suspended.
func (c *comparison) resumed(p pair) (sentences []string) {
	const resumed = "%s is resumed: what was published last is older than the commit before, so that more may change than is said here"
	if p.from != nil && p.to != nil && p.from.Spec.Suspend && !p.to.Spec.Suspend {
		sentences = append(sentences, fmt.Sprintf(resumed, "CatalogSelection "+p.to.Name))
	}
	c.eachSource(p, func(name string, before, after reference) {
		if before.suspended && !after.suspended {
			sentences = append(sentences, fmt.Sprintf(resumed, name))
		}
	})
	return sentences
}

// unverified are the sources of which Flux verifies the signature no more.
func (c *comparison) unverified(p pair) (found []diff.Loosened) {
	c.eachSource(p, func(name string, before, after reference) {
		if before.verified && !after.verified {
			found = append(found, diff.Loosened{
				Field: name + " spec.verify", From: "set", To: "not set", Effect: "what nobody has signed is published",
			})
		}
	})
	return found
}
