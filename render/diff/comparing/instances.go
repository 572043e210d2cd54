// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// instances sets the changes of the instances. changes are those that the safeguards find.
func (d *differ) instances(ctx context.Context, out *diff.Selection, changes []safeguard.Change) error {
	older, newer := d.from.instances(), d.to.instances()
	var differing []string
	for _, name := range sets.List(sets.KeySet(older).Union(sets.KeySet(newer))) {
		if older[name] == nil || newer[name] == nil || !d.from.Result.SameInstance(d.to.Result, name) {
			differing = append(differing, name)
		}
	}
	objects, err := buildInstances(ctx, d.from, d.to, differing)
	if err != nil {
		return err
	}
	c := &instanceDiffer{differ: d, objects: objects, changes: changes}
	var all []diff.Instance
	for _, name := range differing {
		if in := c.compare(older[name], newer[name]); differs(in) {
			all = append(all, in)
		}
	}
	for _, u := range d.to.result().Unresolved {
		if older[u.Name] == nil {
			all = append(all, diff.Instance{Name: u.Name, Application: u.Application, Change: diff.Unresolved, Reason: u.Reason, VersionGone: u.OfVersion})
		}
	}
	slices.SortFunc(all, func(a, b diff.Instance) int { return cmp.Compare(a.Name, b.Name) })
	for i := range all {
		d.bound(all[i].Values)
	}
	out.Instances = all
	return nil
}

// instanceDiffer compares instances of two sides.
type instanceDiffer struct {
	*differ

	objects builtObjects
	changes []safeguard.Change
}

// compare compares an instance, which one of the sides may lack.
func (d *instanceDiffer) compare(before, after *installation.Instance) diff.Instance {
	some := cmp.Or(after, before)
	out := diff.Instance{
		Name: some.Name, Application: some.Application, Source: some.Source, Version: some.Version, Backend: some.Backend,
		Object: strings.TrimSpace(some.Main.Kind + " " + some.Main.Key().FullName()), Change: diff.Updated,
	}
	switch {
	case before == nil:
		out.Change = diff.Added
		return out
	case after == nil:
		d.remove(&out, before)
		return out
	}
	out.Upgrade = upgradeOf(before.Version, after.Version)
	if before.Requested != after.Requested {
		out.Requested = &diff.Field{Path: "version", From: textOf(before.Requested), To: textOf(after.Requested)}
	}
	for _, c := range d.changes {
		switch {
		case c.Instance != out.Name:
		case c.Reason == v1alpha1.IdentityChangeReason:
			out.Identity = append(out.Identity, diff.Field{Path: c.Field, From: diff.JSON(c.From), To: diff.JSON(c.To)})
		case c.Reason == v1alpha1.SourceChangeReason:
			out.SourceChanged = true
		}
	}
	d.objects.compare(&out, before, after)
	return out
}

// differs reports whether anything differs besides what the comparison leaves out.
func differs(in diff.Instance) bool {
	return in.Change != diff.Updated || in.Upgrade != nil || in.Requested != nil || in.SourceChanged || len(in.Identity) > 0 || in.Values != nil || len(in.Fields) > 0
}

// remove sets why an instance leaves, and what becomes of it.
func (d *instanceDiffer) remove(out *diff.Instance, before *installation.Instance) {
	out.Change, out.Deleted, out.Reason = diff.Removed, new(!protected(d.objects.before[before.Main.Key()])), cmp.Or(d.to.Result.Selection.Undecided, notInSpec)
	for _, u := range d.to.result().Unresolved {
		if u.Name == out.Name {
			out.Reason, out.VersionGone = u.Reason, u.OfVersion
		}
	}
}

func textOf(version string) string {
	if version == "" {
		return ""
	}
	return diff.JSON(version)
}

// upgradeOf returns the change of the installed version, nil where it stays.
func upgradeOf(from, to string) *diff.Step {
	if from == to {
		return nil
	}
	s := &diff.Step{From: from, To: to, Kind: diff.StepOther}
	before, err := semver.NewVersion(from)
	if err != nil {
		return s
	}
	after, err := semver.NewVersion(to)
	if err != nil {
		return s
	}
	if s.Kind = diff.StepKind(before, after); s.Kind == diff.StepLower {
		s.Kind = diff.StepDowngrade
	}
	return s
}
