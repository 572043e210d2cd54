package selections

import (
	"fmt"

	"github.com/winnow-dev/winnow/render/guard"
)

// unseen says which sources of a selection neither commit has where it was looked, while a file elsewhere
// that may have them differs.
func (c *comparison) unseen(cs placedSelection, references []reference) (unknown []string) {
	for i, r := range references {
		if r.document != "" {
			continue
		}
		kind, key := guard.SourceKey(cs.CatalogSelection, cs.Spec.Sources[i])
		for _, file := range c.elsewhere {
			if file.Mentions(kind, key.Name) {
				unknown = append(unknown, fmt.Sprintf("source %s: it is not at the paths that are compared; %s may have it, and differs: pass that path, too",
					key.Name, file.Path))
			}
		}
	}
	return unknown
}
