// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"cmp"
	"context"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/render/diff"
)

// Survey has what the selections and the stages of a commit publish.
type Survey struct {
	// Report compares the commit with an earlier one.
	Report *diff.Report
	// Published are the selections, sorted by cluster, file, namespace and name.
	Published []State
	// Stages are sorted by file, namespace and name.
	Stages []Stage
}

// Stage is an OCIRepository whose artifact Winnow has rendered, or may have.
type Stage struct {
	documents.Source
	Reference documents.Reference
	// Artifact is none where Err is the reason why it is not known.
	Artifact promotions.Artifact
	Err      error
}

// Look compares two commits as Compare does, and returns what the newer one publishes as well. What cannot be read is in the
// survey; the error is from Compare.
func Look(ctx context.Context, base, head string, options Options) (*Survey, error) {
	c, report, err := compareCommits(ctx, base, head, options)
	if err != nil {
		return nil, err
	}
	s := &Survey{Report: report}
	for _, p := range c.pairs {
		if p.to != nil {
			s.Published = append(s.Published, c.published(ctx, *p.to))
		}
	}
	s.Stages = c.stagesOfHead(ctx)
	return s, ctx.Err()
}

// published renders a selection of the newer commit.
func (c *comparison) published(ctx context.Context, s State) State {
	if s.Lost != "" {
		return State{Selection: s.Selection, Open: []string{s.Lost}}
	}
	for _, ref := range s.Spec.Sources {
		source, _ := c.head.SourceOf(s.Selection, ref) // Open has the error
		s.Sources = append(s.Sources, source)
	}
	if len(s.Open) > 0 {
		return s
	}
	if side, _ := c.rendered(ctx, &s); side != nil && side.Empty != nil {
		s.Side, s.Err = nil, side.Empty
	}
	return s
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
		if artifact, err := c.options.Rendered.Pull(ctx, r); err != nil || artifact.Result != nil {
			all = append(all, Stage{source, r, artifact, err})
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
