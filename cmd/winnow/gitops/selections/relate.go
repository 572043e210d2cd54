// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"
	"fmt"
	"slices"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/render/guard"
)

// relate adds to the changes of selections what others do: the moves of applications, what is held of them, and the artifacts and
// files that a selection depends on. It returns a sentence for each selection whose older state was not published, because it
// selects nothing.
func (c *comparison) relate(ctx context.Context) (unknown []string) {
	var all []placement
	for _, p := range c.pairs {
		if p.out == nil {
			if others := append(c.elsewhere(p.to), c.fed(p, nil)...); len(others) > 0 {
				p.out = p.uncompared(others)
			}
		}
		if !p.isCompared() {
			continue
		}
		all = append(all, c.placementOf(p))
		if from, to := p.from.side(), p.to.side(); from != nil && to != nil && from.Empty != nil && to.Empty == nil {
			unknown = append(unknown, p.to.In()+": "+beforePrefix+from.Empty.Error()+": this was not published, and what was before is in the cluster only")
		}
	}
	findMoves(all)
	noteOthers(all, c.unchanged(ctx, all))
	holdAdopted(ctx, all)
	nameReceivers(all)
	placeApprovals(&c.head, c.options.Paths, c.pairs)
	return unknown
}

// elsewhere returns a sentence for each source of a selection that neither commit has for it, if a file outside of the paths, or another
// cluster or directory, may have it and differs.
func (c *comparison) elsewhere(cs *State) (unknown []string) {
	for i, r := range cs.References {
		if r.Document != "" {
			continue
		}
		kind, key := guard.SourceKey(cs.CatalogSelection, cs.Spec.Sources[i])
		source := manifest.Ref{Kind: kind, Name: types.NamespacedName{Name: key.Name}}
		for _, file := range c.outside {
			if source.MayBeIn(file.Content) {
				unknown = append(unknown, fmt.Sprintf("source %s: it is not at the paths that are compared; %s may have it, and differs: pass that path, too",
					key.Name, file.Path))
			}
		}
		for _, other := range slices.Concat(c.head.Sources, c.base.Sources) {
			if other.Kind == kind && other.Name == key.Name && (!has(&c.base, other) || !has(&c.head, other)) {
				unknown = append(unknown, fmt.Sprintf("source %s: it is not beside the selection; %s may have it, and differs: apply both to one cluster", key.Name, other.File))
				break
			}
		}
	}
	return unknown
}

// has reports whether a commit has a source in the same file with the same document.
func has(commit *documents.Set, source documents.Source) bool {
	return slices.ContainsFunc(commit.Sources, func(s documents.Source) bool { return s.File == source.File && s.IsSame(source) })
}

// fed returns a sentence for each source of a selection that is the artifact of another one that differs. seen are the
// selections that it feeds.
func (c *comparison) fed(p *pair, seen []*State) (unknown []string) {
	if seen = append(seen, p.to); p.to == nil || len(seen) > len(c.pairs) {
		return nil
	}
	for _, ref := range p.to.Spec.Sources {
		kind, key := guard.SourceKey(p.to.CatalogSelection, ref)
		for _, other := range c.pairs {
			at := other.any()
			if kind != sourcev1.ExternalArtifactKind || at.Cluster != p.to.Cluster || at.Namespace != key.Namespace || at.Name != key.Name || slices.Contains(seen, other.to) {
				continue
			}
			if !other.isSame() || len(c.fed(other, seen)) > 0 {
				unknown = append(unknown, fmt.Sprintf("source %s: it is the artifact of the CatalogSelection %s/%s, which differs", ref.Name, at.Namespace, at.Name))
			}
		}
	}
	return unknown
}
