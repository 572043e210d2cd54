// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"cmp"
	"context"
	"slices"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/fielddiff"
	"github.com/winnow-dev/winnow/render/diff/schemadiff"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/value"
)

// applications sets the change of each application.
func (d *differ) applications(ctx context.Context, out *diff.Selection) error {
	older, newer := safeguard.ByKey(d.from.result().Definitions), safeguard.ByKey(d.to.result().Definitions)
	if err := d.build(ctx, older, newer); err != nil {
		return err
	}
	notices := notices{older: noticesOf(d.from.result()), newer: noticesOf(d.to.Result)}
	all := compareEach(out, notices, older, newer, d.removed, d.kept, added)
	all = append(all, compareEach(out, notices, d.from.contents(), d.to.contents(), d.goneContent, d.keptContent, addedContent)...)
	slices.SortFunc(all, func(a, b diff.Application) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind))
	})
	for i := range all {
		d.bound(all[i].Values)
		out.Counts.Add(all[i])
	}
	out.Applications = append(out.Applications, all...)
	return nil
}

// compareEach compares what leaves, what stays and what enters, and counts what stays as it is.
func compareEach[T any](out *diff.Selection, notices notices, older, newer map[safeguard.Key]T,
	removed func(before T) diff.Application, kept func(before, after T) diff.Application, added func(after T) diff.Application) (changed []diff.Application) {
	for key, before := range older {
		after, stays := newer[key]
		if !stays {
			changed = append(changed, removed(before))
			continue
		}
		a := kept(before, after)
		if notices.set(&a) || a.Change != diff.Unchanged {
			changed = append(changed, a)
		} else {
			out.Counts.Unchanged++
		}
	}
	for key, after := range newer {
		if _, stays := older[key]; !stays {
			a := added(after)
			notices.set(&a)
			changed = append(changed, a)
		}
	}
	return changed
}

// build builds the objects that are removed or may differ.
func (d *differ) build(ctx context.Context, older, newer map[safeguard.Key]safeguard.Definition) error {
	if d.from == nil || d.to == nil {
		return nil
	}
	var gone, both []string
	for key := range older {
		if _, stays := newer[key]; !stays {
			gone = append(gone, key.Name)
		} else if !d.from.Result.Same(d.to.Result, key.Name) {
			both = append(both, key.Name)
		}
	}
	var err error
	if d.older, err = objects(ctx, d.from, slices.Concat(gone, both)); err != nil {
		return err
	}
	d.newer, err = objects(ctx, d.to, both)
	return err
}

// kept compares the objects of an application that stays.
func (d *differ) kept(before, after safeguard.Definition) diff.Application {
	a := newApplication(after, diff.Unchanged)
	if older, newer := d.older[after.Key()], d.newer[after.Key()]; older != nil && newer != nil {
		d.update(&a, before, after, older, newer)
	}
	return a
}

// update sets the changes between two objects of an application, if there are any.
func (d *differ) update(a *diff.Application, before, after safeguard.Definition, older, newer kustomized.Object) {
	fields := fielddiff.Of(older, newer)
	if len(fields) == 0 {
		return
	}
	a.Change = diff.Updated
	a.Versions = append(a.Versions, d.versions(after.Key(), older, newer)...)
	a.SourceChanged = d.elsewhere[loss{key: after.Key()}]
	a.Highest = step(before.Versions, after.Versions)
	setOther(a, fields, older, newer)
}

func added(after safeguard.Definition) diff.Application {
	a := newApplication(after, diff.Added)
	for _, version := range after.Versions {
		a.Versions = append(a.Versions, diff.Version{Version: version, Change: diff.Added})
	}
	return a
}

func (d *differ) removed(before safeguard.Definition) diff.Application {
	a := newApplication(before, diff.Removed)
	a.Cause, a.Reason = d.cause(before.Key(), ""), guard.WhyGone(before.Key(), d.to.Result.Selection)
	if d.to.Subject != Catalog {
		a.Deleted = new(!protected(d.older[before.Key()]))
	}
	for _, version := range before.Versions {
		v := diff.Version{Version: version, Change: diff.Removed, Cause: a.Cause}
		if a.Deleted != nil && *a.Deleted {
			v.Installations = d.installations(before.Key(), version)
		}
		a.Versions = append(a.Versions, v)
	}
	return a
}

// setOther sets the changes outside of the entries of spec.versions.
func setOther(a *diff.Application, changes []fielddiff.Change, older, newer kustomized.Object) {
	values, was, is := newValues(older, newer)
	a.Values = values
	if from, to := namespaceOf(older), namespaceOf(newer); from != to {
		a.DefaultNamespace = &diff.Field{Path: "spec.defaultNamespace.name", From: from, To: to}
	}
	moved := safeguard.IdentityChanges(safeguard.DefinitionOf(older), safeguard.DefinitionOf(newer))
	for _, c := range moved {
		a.Identity = append(a.Identity, diff.Field{Path: c.Field, From: diff.JSON(c.From), To: diff.JSON(c.To)})
	}
	isSchema := func(c fielddiff.Change) bool { return c.IsAt("spec", "application", "openAPISchema") }
	if i := slices.IndexFunc(changes, isSchema); i >= 0 {
		from, _ := changes[i].From.(string)
		to, _ := changes[i].To.(string)
		a.Schema = schemadiff.Of(from, to)
	}
	rest := slices.DeleteFunc(changes, func(c fielddiff.Change) bool {
		return isSchema(c) && len(a.Schema) > 0 || c.IsAt("spec", was) || c.IsAt("spec", is) ||
			c.IsAt("spec", "versions") && len(a.Versions) > 0 ||
			c.IsAt("spec", "defaultNamespace", "name") && a.DefaultNamespace != nil ||
			slices.ContainsFunc(moved, func(m safeguard.Change) bool { return m.Field == c.Text() })
	})
	for i, c := range rest {
		// The entries are equal, so their order differs.
		if _, was := entries(older); c.IsAt("spec", "versions") && len(was) > 0 {
			_, is := entries(newer)
			rest[i].From, rest[i].To = was, is
		}
	}
	a.Fields, a.FieldsOmitted = fielddiff.Bounded(rest, fielddiff.MaxFields)
}

// namespaceOf returns spec.defaultNamespace.name as JSON, empty without one.
func namespaceOf(object kustomized.Object) string {
	if name := value.Of(object).Get("spec", "defaultNamespace", "name"); name.IsText() {
		return diff.JSON(name.Text())
	}
	return ""
}
