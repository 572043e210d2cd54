// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"fmt"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
)

// eachSource calls f for each source that a selection has in both commits.
func (p *pair) eachSource(f func(name string, before, after documents.Reference)) {
	if p.from == nil || p.to == nil {
		return
	}
	for i, was := range p.from.Spec.Sources {
		kind, name := guard.SourceKey(p.from.CatalogSelection, was)
		for j, is := range p.to.Spec.Sources {
			if other, same := guard.SourceKey(p.to.CatalogSelection, is); kind != other || name != same {
				continue
			}
			if before, after := p.from.References[i], p.to.References[j]; before.IsRead() && after.IsRead() {
				f(kind+" "+name.Name, before, after)
			}
			break
		}
	}
}

// resumed returns a sentence for the selection and each of its sources that is no longer suspended, or that Flux updates
// again.
func (p *pair) resumed() (sentences []string) {
	const resumed = "%s is resumed: the last publication is older than the commit before, so that more may change than this report shows"
	if p.from != nil && p.to != nil && (p.from.Spec.Suspend && !p.to.Spec.Suspend || p.from.Untouched && !p.to.Untouched) {
		sentences = append(sentences, fmt.Sprintf(resumed, "CatalogSelection "+p.to.Name))
	}
	p.eachSource(func(name string, before, after documents.Reference) {
		if before.Suspended && !after.Suspended || before.Untouched && !after.Untouched {
			sentences = append(sentences, fmt.Sprintf(resumed, name))
		}
	})
	return sentences
}

// filtered returns a sentence for each source from which Flux takes other files.
func (p *pair) filtered() (sentences []string) {
	p.eachSource(func(name string, before, after documents.Reference) {
		if before.Filter != after.Filter {
			sentences = append(sentences, name+" has another spec.ignore or spec.layerSelector: what Flux takes from the catalog is known in the cluster only")
		}
	})
	return sentences
}

// unverified returns the sources whose signatures Flux no longer verifies.
func (p *pair) unverified() (found []diff.Loosened) {
	p.eachSource(func(name string, before, after documents.Reference) {
		if before.Verified && !after.Verified {
			found = append(found, diff.Loosened{
				Field: name + " spec.verify", From: "set", To: "not set", Effect: "unsigned content is published",
			})
		}
	})
	return found
}
