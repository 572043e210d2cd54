// SPDX-License-Identifier: Apache-2.0

// Package comparing compares two states of a selection, a stage or a catalog, and reports what changes, why, and which of the
// changes the safeguards hold.
//
// It is pure: the same two renders give the same report. It must not know where catalogs and selections come from, nor how
// a report is printed.
package comparing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/fielddiff"
	"github.com/winnow-dev/winnow/render/diff/protection"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/monitoring"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Observer adds to a comparison what neither state has: what lives in a cluster, or what charts render to. A nil one adds nothing.
type Observer func(ctx context.Context, from, to *Side, out *diff.Selection) error

// Compare compares two states, and observes them.
func (o Observer) Compare(ctx context.Context, from, to *Side) (*diff.Selection, error) {
	out, err := Compare(ctx, from, to)
	if err == nil && o != nil {
		err = o(ctx, from, to, out)
	}
	return out, err
}

// Compare returns the changes from from to to. Either may be nil, where the selection does not exist.
func Compare(ctx context.Context, from, to *Side) (*diff.Selection, error) {
	out := newSelection(from, to)
	switch {
	case to == nil:
		out.Change = diff.Removed
		for _, d := range slices.Concat(from.result().Definitions, from.result().Contents) {
			out.Others = append(out.Others, diff.Withdrawal{Application: diff.Application{Name: d.Name, APIVersion: d.APIVersion, Kind: d.Kind}})
		}
		return out, nil
	case from == nil:
		out.Change = diff.Added
	case from.Result.Revision == to.Result.Revision:
		out.Change = diff.Unchanged
	}
	out.Others = retiring(to.Result)
	changes := Hold(ctx, out, from, to, nil)
	d := &differ{from: from, to: to, edited: out.SpecChanged, elsewhere: elsewhere(changes), stranded: stranded(changes), budget: maxDiffs}
	if err := d.applications(ctx, out); err != nil {
		return nil, fmt.Errorf("comparing the artifacts of %s: %w", out.Name, err)
	}
	if err := d.instances(ctx, out, changes); err != nil {
		return nil, fmt.Errorf("comparing the instances of %s: %w", out.Name, err)
	}
	if err := d.served(ctx, out); err != nil {
		return nil, fmt.Errorf("comparing the catalogs that %s serves: %w", out.Name, err)
	}
	switch to.Subject {
	case Selection:
		out.Notes = append(append(out.Notes, unmatched(from, to)...), monitoring.Sentences(to.monitoringLosses(), from.monitoringLosses())...)
		out.Loosened = loosened(from, to)
	case Stage:
		out.Notes = append(out.Notes, unmatchedLines(from, to)...)
	case Catalog:
		addFacts(out, from.Sources[0].Catalog, to.Sources[0].Catalog)
	}
	return out, nil
}

// Unchanged returns the change of a state that stays: what it deprecates.
func Unchanged(s *Side) *diff.Selection {
	out := newSelection(s, s)
	out.Change, out.Others = diff.Unchanged, retiring(s.Result)
	return out
}

// newSelection returns what is known of the states without a comparison.
func newSelection(from, to *Side) *diff.Selection {
	some := cmp.Or(to, from)
	out := diff.NewSelection("", "")
	out.Everything = some.Subject == Catalog
	out.From, out.To = from.state(), to.state()
	out.NothingLives = some.Subject == Stage || from.hasNoObjects() && to.hasNoObjects() // a stage is in another cluster
	if some.Subject != Selection {
		return out
	}
	out.Namespace, out.Name = some.Selection.Namespace, some.Selection.Name
	out.SpecChanged = from != nil && to != nil && !equality.Semantic.DeepEqual(guard.RenderedSpec(from.Selection), guard.RenderedSpec(to.Selection))
	if push := cmp.Or(from, to).Selection.Spec.Push; push != nil {
		out.PushURL = push.URL
	}
	return out
}

// unmatched returns notes on the names in the newer selection that no catalog has, including those that the
// older selection had already, and on the lines that it adds and that name nothing. Instances have a place of their own.
func unmatched(from, to *Side) []string {
	names := slices.DeleteFunc(slices.Clone(to.Result.Unmatched), func(u mention.Unmatched) bool { return u.Reason != "" })
	lines := guard.UnmatchedLines(to.Lines, slices.Concat(from.Published(), to.Result.Compared()),
		to.Result.Selection, to.Sources, func(line string) bool { return slices.Contains(from.reviewed(), line) })
	return mention.Sentences(slices.Concat(names, lines))
}

// unmatchedLines returns notes on lines of a stage that name nothing. A line that was there before may be about an application
// that has left.
func unmatchedLines(from, to *Side) []string {
	all := guard.UnmatchedLines(to.Lines, slices.Concat(from.Published(), to.Published()), to.Result.Selection, nil, func(entry string) bool {
		_, err := approval.Parse(entry)
		return err == nil && slices.Contains(from.Lines, entry)
	})
	for _, line := range approval.ParseAll(to.Lines) {
		if line.Checksum != "" {
			all = append(all, mention.Unmatched{Reason: "the digest " + line.Checksum + " names nothing: name what leaves"})
		}
	}
	for i := range all {
		all[i].Field = "the annotation " + v1alpha1.ApproveAnnotation
	}
	return mention.Sentences(all)
}

// loosened returns the protections that the edit between both sides removes; none without a former one.
func loosened(from, to *Side) []diff.Loosened {
	if from == nil {
		return []diff.Loosened{}
	}
	definitions := slices.Concat(from.result().Definitions, to.result().Definitions)
	return protection.Loosen(from.Selection, to.Selection, slices.ContainsFunc(definitions, func(d safeguard.Definition) bool {
		return diff.Application{APIVersion: d.APIVersion}.OfKKP()
	}))
}

// EditError returns what the API server refuses of an edit of a selection; nil for nothing.
func EditError(from, to *v1alpha1.CatalogSelection) error {
	was, is := cmp.Or(from.Spec.Definitions, v1alpha1.DefinitionsPublish), cmp.Or(to.Spec.Definitions, v1alpha1.DefinitionsPublish)
	if was == is {
		return nil
	}
	return &render.Error{Code: v1alpha1.InvalidSpecReason, Field: "spec.definitions", Err: fmt.Errorf(
		"the API server refuses a change from %s to %s: make a second CatalogSelection", was, is)}
}

// served sets the changes of the catalog that serves the packages.
func (d *differ) served(ctx context.Context, out *diff.Selection) error {
	older, was, err := d.from.served(ctx)
	if err != nil {
		return err
	}
	newer, is, err := d.to.served(ctx)
	if err != nil {
		return err
	}
	if was != nil && is != nil && *was == *is {
		var changes []fielddiff.Change
		isExpected := slices.ContainsFunc(out.Applications, func(a diff.Application) bool { return a.IsPackage() && a.Change != diff.Unchanged })
		for _, c := range fielddiff.Of(older, newer) {
			if differs := cutDigest(&c, isExpected); differs {
				changes = append(changes, c)
			}
		}
		if len(changes) > 0 {
			c := diff.ServedCatalog{Object: nameOfServed(newer, *is), Change: diff.Updated}
			c.Fields, c.FieldsOmitted = fielddiff.Bounded(changes, fielddiff.MaxFields)
			out.Served = append(out.Served, c)
		}
		return nil
	}
	if was != nil {
		deleted := !protected(older)
		out.Served = append(out.Served, diff.ServedCatalog{Object: nameOfServed(older, *was), Change: diff.Removed, Deleted: &deleted})
	}
	if is != nil {
		out.Served = append(out.Served, diff.ServedCatalog{Object: nameOfServed(newer, *is), Change: diff.Added})
	}
	return nil
}

func nameOfServed(object kustomized.Object, key safeguard.Key) string {
	return strings.TrimSpace(fmt.Sprint(object["kind"], " ", key.FullName()))
}

// cutDigest removes the digests of an image if they are equal, or if another one is expected, and reports whether
// something else changes.
func cutDigest(c *fielddiff.Change, isExpected bool) (differs bool) {
	from, _ := c.From.(string)
	to, _ := c.To.(string)
	was, older, isOne := strings.Cut(from, "@")
	is, newer, isOther := strings.Cut(to, "@")
	isImage := c.IsAt("spec", "image") || c.IsAt("spec", "source", "image", "ref")
	if !isImage || !isOne || !isOther || older != newer && !isExpected {
		return true
	}
	c.From, c.To = was, is
	return was != is
}
