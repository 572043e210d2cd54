package selections

import (
	"fmt"

	"github.com/winnow-dev/winnow/render/guard"
)

// outsidePaths returns a sentence for each source of a selection that neither commit contains at the paths, if a
// file outside of the paths may contain it and differs.
func (c *comparison) outsidePaths(cs placedSelection, references []reference) (unknown []string) {
	for i, r := range references {
		if r.document != "" {
			continue
		}
		kind, key := guard.SourceKey(cs.CatalogSelection, cs.Spec.Sources[i])
		for _, file := range c.outside {
			if file.Mentions(kind, key.Name) {
				unknown = append(unknown, fmt.Sprintf("source %s: it is not at the paths that are compared; %s may have it, and differs: pass that path, too",
					key.Name, file.Path))
			}
		}
	}
	return unknown
}
