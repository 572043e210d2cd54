// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"cmp"
	"context"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
)

// Survey has what the selections and the stages of a commit publish.
type Survey struct {
	// Report compares the commit with an earlier one.
	Report *diff.Report
	// Published are the selections, sorted by cluster, file, namespace and name.
	Published []Published
	// Stages are sorted by file, namespace and name.
	Stages []Stage
}

// Published is a CatalogSelection with what it publishes.
type Published struct {
	documents.Selection
	// Sources are the objects that its sources name, and References the catalogs of these, both in the order of the spec.
	// A source that is not known is empty.
	Sources    []documents.Source
	References []documents.Reference
	// Side is what it publishes, shared with other selections of the same spec and catalogs; nil where Unread has the reasons
	// why that is not known.
	Side   *comparing.Side
	Unread []string
}

// Stage is an OCIRepository whose artifact Winnow has rendered, or may have.
type Stage struct {
	documents.Source
	Reference documents.Reference
	// Result is the artifact; nil where Unread is the reason why it is not known.
	Result *render.Result
	Unread string
	// Origin has the revisions of the sources that it was rendered from.
	Origin string
}

// Look compares two commits as Compare does, and returns what the newer one publishes as well. What cannot be read is in the
// survey; the error is from Compare.
func Look(ctx context.Context, base, head string, options Options) (*Survey, error) {
	c, report, err := compareCommits(ctx, base, head, options)
	if err != nil {
		return nil, err
	}
	s := &Survey{Report: report}
	for i := range c.head.Selections {
		s.Published = append(s.Published, c.published(ctx, &c.head.Selections[i]))
	}
	slices.SortFunc(s.Published, func(a, b Published) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.File, b.File), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	s.Stages = c.stagesOfHead(ctx)
	return s, ctx.Err()
}

// published renders a selection of the newer commit.
func (c *comparison) published(ctx context.Context, cs *documents.Selection) Published {
	p := Published{Selection: *cs, Unread: cs.Unknown}
	if cs.Lost != "" {
		p.Unread = []string{cs.Lost}
		return p
	}
	if cs.Invalid != nil {
		p.Unread = append(slices.Clip(p.Unread), cs.Invalid.Error())
		return p
	}
	for _, ref := range cs.Spec.Sources {
		source, _ := c.head.SourceOf(*cs, ref) // Resolve has the error
		p.Sources = append(p.Sources, source)
	}
	var unknown []string
	p.References, unknown = c.head.Resolve(*cs)
	if p.Unread = append(slices.Clip(p.Unread), unknown...); len(p.Unread) > 0 {
		return p
	}
	side, err := c.side(ctx, cs, p.References)
	switch {
	case err != nil:
		p.Unread = []string{err.Error()}
	case side.Empty != nil:
		p.Unread = []string{side.Empty.Error()}
	default:
		p.Side = side
	}
	return p
}

// stagesOfHead returns the stages of the newer commit: OCIRepositories with the digest of a rendered artifact, or of a
// repository to which a selection of the commit pushes.
func (c *comparison) stagesOfHead(ctx context.Context) (all []Stage) {
	if c.options.Rendered == nil {
		return nil
	}
	pushed := map[string]bool{}
	for _, cs := range c.head.Selections {
		if cs.Invalid == nil && cs.Spec.Push != nil {
			pushed[cs.Spec.Push.URL] = true
		}
	}
	for _, source := range c.stageSources() {
		r, err := source.Reference()
		if err != nil || r.Digest == "" && !pushed[r.Catalog] && !pushed[r.Catalog[:max(0, strings.LastIndexByte(r.Catalog, ':'))]] {
			continue
		}
		artifact, err := c.options.Rendered.Pull(ctx, r)
		switch {
		case err != nil:
			all = append(all, Stage{Source: source, Reference: r, Unread: err.Error()})
		case artifact.Result != nil:
			all = append(all, Stage{Source: source, Reference: r, Result: artifact.Result, Origin: artifact.Origin})
		}
	}
	return all
}

// stageSources returns the OCIRepositories that Kustomizations of the newer commit apply, and the unused ones.
func (c *comparison) stageSources() []documents.Source {
	all := c.head.Unused(sourcev1.OCIRepositoryKind)
	for _, consumer := range c.head.Consumers {
		if consumer.Kind != sourcev1.OCIRepositoryKind {
			continue
		}
		if nearest := c.head.Nearest(consumer.Origin, consumer.Kind, consumer.SourceName()); len(nearest) > 0 && documents.SameDocument(nearest) == nil {
			all = append(all, nearest[0])
		}
	}
	slices.SortFunc(all, func(a, b documents.Source) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(all, func(a, b documents.Source) bool {
		return a.File == b.File && a.Cluster == b.Cluster && a.Namespace == b.Namespace && a.Name == b.Name
	})
}
