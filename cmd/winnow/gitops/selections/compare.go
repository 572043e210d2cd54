// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Compare compares the artifacts of the CatalogSelections in two commits of the repository of the working directory.
// It returns an error if nothing could be compared: the report has the errors and unknown parts of each selection.
func Compare(ctx context.Context, base, head string, options Options) (*diff.Report, error) {
	_, report, err := compareCommits(ctx, base, head, options)
	return report, err
}

// compareCommits is Compare, and returns what it has read as well.
func compareCommits(ctx context.Context, base, head string, options Options) (*comparison, *diff.Report, error) {
	c, compared, err := readCommits(ctx, base, head, options)
	if err != nil {
		return nil, nil, err
	}
	if len(compared.Missing) > 0 {
		return nil, nil, fmt.Errorf("neither commit has anything at %s", strings.Join(compared.Missing, ", "))
	}
	report := diff.New()
	report.From, report.To = base, head
	for _, cluster := range compared.Clusters {
		report.Places[cluster] = true
	}
	report.Unknown = append(report.Unknown, compared.Unknown...)
	report.Notes = append(append(report.Notes, compared.Notes...), c.head.Notes...)
	for _, note := range c.base.Notes {
		if !slices.Contains(c.head.Notes, note) {
			report.Notes = append(report.Notes, beforePrefix+note)
		}
	}
	c.skipped(report)
	if err := c.promotions(ctx, report, compared.External); err != nil {
		return nil, nil, err
	}
	if len(c.base.Selections)+len(c.head.Selections)+len(report.Selections) == 0 && len(report.Unknown) == 0 {
		report.Notes = append(report.Notes, "neither commit has a CatalogSelection at "+excerpt.Names(options.Paths, maxListed))
	}
	return c, report, c.compare(ctx, report)
}

// promotions compares what stages run.
func (c *comparison) promotions(ctx context.Context, report *diff.Report, external []gitops.External) error {
	unknown, external := c.stages(external)
	report.Unknown = append(report.Unknown, unknown...)
	if c.options.Rendered == nil {
		for _, e := range external {
			report.Unknown = append(report.Unknown, e.Sentence)
		}
		return nil
	}
	found, err := promotions.Compare(ctx, &c.base, &c.head, external, c.options.Paths, c.options.Rendered)
	report.Selections = append(report.Selections, found.Promotions...)
	for _, p := range found.Promotions {
		report.Places[p.File] = p.File != ""
	}
	report.Unknown = append(report.Unknown, found.Unknown...)
	return err
}

// compare compares the selections of both commits: each pair for itself, and then what one has to do with others.
func (c *comparison) compare(ctx context.Context, report *diff.Report) (err error) {
	c.pairs = pairs(&c.base, &c.head)
	for _, p := range c.pairs {
		p.consumed = c.compareConsumers(p)
		if p.out, err = c.comparePair(ctx, p); err != nil {
			return err
		}
	}
	unpublished := c.relate(ctx)
	for _, p := range c.pairs {
		at, out := p.any(), p.out
		for _, sentence := range p.consumed.unknown {
			report.Unknown = each.Union(report.Unknown, at.In()+": "+sentence)
		}
		report.Places[at.Cluster], report.Places[at.File] = at.Cluster != "", at.File != ""
		if out == nil {
			report.Same = append(report.Same, diff.Place{Cluster: at.Cluster, File: at.File, Namespace: at.Namespace, Name: at.Name})
			continue
		}
		out.Cluster, out.File, out.OldFile = at.Cluster, at.File, cmp.Or(p.from, p.to).File
		out.Notes = append(out.Notes, p.consumed.notes...)
		out.Loosened = append(out.Loosened, p.unverified()...)
		report.Selections = append(report.Selections, out)
	}
	report.Unknown = append(report.Unknown, unpublished...)
	return nil
}

// comparePair compares a selection. It returns nil if it is the same in both commits, unless others apply it otherwise.
func (c *comparison) comparePair(ctx context.Context, p *pair) (*diff.Selection, error) {
	if lost := p.any().Lost; lost != "" {
		out := p.uncompared(nil)
		out.Unknown = []string{lost}
		return out, nil
	}
	if len(p.consumed.notes) == 0 && p.isSame() {
		return nil, nil
	}
	if unknown := p.open(); len(unknown) > 0 {
		return p.uncompared(unknown), nil
	}
	return c.compareRendered(ctx, p)
}

// compareRendered renders and compares both states, unless one of them is invalid or cannot be pulled.
func (c *comparison) compareRendered(ctx context.Context, p *pair) (*diff.Selection, error) {
	out := p.uncompared(nil)
	if p.from != nil && p.to != nil && p.from.Invalid == nil && p.to.Invalid == nil {
		if err := comparing.EditError(p.from.CatalogSelection, p.to.CatalogSelection); err != nil {
			out.Refuse(err)
			return out, nil
		}
	}
	from, errBefore := c.rendered(ctx, p.from)
	to, errAfter := c.rendered(ctx, p.to)
	if errBefore != nil || errAfter != nil {
		addErrors(out, errBefore, errAfter)
		return out, ctx.Err()
	}
	return c.compareSides(ctx, p, from, to)
}

// addErrors adds why states are not rendered: an input is invalid, or cannot be pulled.
func addErrors(out *diff.Selection, before, after error) {
	isInvalid := func(err error) bool { _, is := errors.AsType[*render.Error](err); return is }
	switch {
	case isInvalid(before):
		out.Error = beforePrefix + before.Error()
	case before != nil:
		out.Unknown = append(out.Unknown, beforePrefix+before.Error())
	}
	switch {
	case isInvalid(after):
		out.Refuse(after) // which overwrites the error of the older one
	case after != nil:
		out.Unknown = append(out.Unknown, "after: "+after.Error())
	}
}

// compareSides compares two states, once for all clusters.
func (c *comparison) compareSides(ctx context.Context, p *pair, from, to *comparing.Side) (*diff.Selection, error) {
	found, err := memo.Of(ctx, c.memo, [2]*comparing.Side{from, to}, func() (*diff.Selection, error) { return c.options.Observe.Compare(ctx, from, to) })
	if err != nil {
		return nil, err
	}
	out := found.Clone()
	out.Notes = append(out.Notes, p.placeNotes()...)
	if p.to == nil {
		if len(c.base.ConsumersOf(&p.from.Selection)) == 0 || len(c.head.ConsumersOf(&p.from.Selection)) > 0 {
			out.Notes = append(out.Notes, "its ExternalArtifact is deleted with it; its Kustomization keeps the applied objects")
		}
		return out, nil
	}
	if p.to.Spec.Suspend {
		out.Notes = append(out.Notes, "it is suspended: nothing is published until it is resumed")
	}
	for _, w := range c.head.Warnings(p.to.Selection, to.Result) {
		out.Notes = append(out.Notes, w.Message)
	}
	if slices.ContainsFunc(p.to.References, func(r documents.Reference) bool { return r.Ignore }) {
		out.Notes = append(out.Notes, "spec.ignore of its OCIRepository is not evaluated here")
	}
	return out, nil
}

// skipped reports the documents that are left out: as unknown if the commits differ.
func (c *comparison) skipped(report *diff.Report) {
	noted := map[string]bool{}
	has := func(all []documents.Skipped, document documents.Skipped) bool {
		return slices.ContainsFunc(all, func(s documents.Skipped) bool { return s.Content == document.Content })
	}
	for _, document := range c.head.Skipped {
		if has(c.base.Skipped, document) {
			report.Notes = append(report.Notes, document.Note(""))
			continue
		}
		noted[document.File] = true
		report.Unknown = append(report.Unknown, document.Note(", and differs"))
	}
	for _, document := range c.base.Skipped {
		if !noted[document.File] && !has(c.head.Skipped, document) {
			report.Unknown = append(report.Unknown, beforePrefix+document.Note(""))
		}
	}
}
