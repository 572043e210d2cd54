// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"cmp"
	"context"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/contents"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// byEdit returns the changes that the new spec causes over the catalogs of the last publication. They
// excuse the same changes over the new catalogs. Losses that spec.platform causes are not among them: whoever
// lists the versions of the platform need not know which applications run on them.
func byEdit(ctx context.Context, last Published, next Next, changes []safeguard.Change) []safeguard.Change {
	opts, err := render.FromSpec(next.Selection)
	if err != nil {
		return nil
	}
	sources, known, unchanged := atLastPublication(last.Sources, next.Sources)
	if last.Older {
		sources = next.Sources
	}
	excused := changes
	switch {
	case last.Older, unchanged && len(last.Sources) > 0:
	case last.Sources == nil || !known:
		return nil
	default:
		excused = made(ctx, last, sources, opts, changes)
	}
	excused = slices.DeleteFunc(slices.Clone(excused), func(c safeguard.Change) bool { return c.Instance != "" && !excusable(c, next) })
	return safeguard.Unexcused(excused, byPlatform(ctx, last, sources, opts, changes))
}

// excusable reports whether an edit may excuse a change of an instance. A spec that still has an instance does not mean
// to remove it, even if the edit names an application or a version that does not exist. Another release is another
// installation, whoever wants it, and a value is locked for those who edit.
func excusable(c safeguard.Change, next Next) bool {
	stays := slices.ContainsFunc(next.Result.Unresolved, func(u instance.Unresolved) bool { return u.Name == c.Instance })
	return !stays && c.Reason != v1alpha1.IdentityChangeReason && c.Reason != v1alpha1.LockedValueReason
}

// explained returns changes in which instances are gone for a reason, with the remedy, and one whose version is gone loses it.
func explained(changes []safeguard.Change, unresolved []instance.Unresolved) []safeguard.Change {
	for i, c := range changes {
		j := slices.IndexFunc(unresolved, func(u instance.Unresolved) bool { return u.Name == c.Instance })
		if c.Reason != v1alpha1.RemovalReason || c.Instance == "" || j < 0 {
			continue
		}
		remedy := "; name another version in spec.instances, or remove the instance from it"
		switch {
		case unresolved[j].OfVersion:
			changes[i].Reason = v1alpha1.VersionRemovalReason
		case unresolved[j].OffPlatform:
			remedy = "; add it there, or remove the instance from spec.instances"
		}
		changes[i].Detail = unresolved[j].Reason + remedy
	}
	return changes
}

// byPlatform returns the losses that spec.platform causes over the sources: the same spec without it does not have
// them.
func byPlatform(ctx context.Context, last Published, sources []Source, opts render.Options, changes []safeguard.Change) []safeguard.Change {
	if opts.Criteria.Platform == nil {
		return nil
	}
	with := made(ctx, last, sources, opts, changes)
	opts.Criteria.Platform = nil
	caused := safeguard.Unexcused(with, made(ctx, last, sources, opts, changes))
	return slices.DeleteFunc(caused, func(c safeguard.Change) bool {
		return c.Reason != v1alpha1.RemovalReason && c.Reason != v1alpha1.VersionRemovalReason && c.Reason != v1alpha1.StrandedReason
	})
}

// made returns the changes from the last publication to what the options select from the sources.
func made(ctx context.Context, last Published, sources []Source, opts render.Options, changes []safeguard.Change) []safeguard.Change {
	if definitions, err := selected(ctx, sources, opts); err == nil {
		return safeguard.Compare(last.Definitions, definitions)
	}
	// The expression cannot be evaluated for some application, so each application is tried alone.
	var all []safeguard.Change
	for _, d := range last.Definitions {
		if !slices.ContainsFunc(changes, func(c safeguard.Change) bool { return c.Key == d.Key() }) {
			continue
		}
		if definitions, err := selected(ctx, only(sources, cmp.Or(d.Application, d.Name)), opts); err == nil {
			all = append(all, safeguard.Compare([]safeguard.Definition{d}, definitions)...)
		}
	}
	return all
}

// selected returns the definitions that a spec selects from sources, before any transformation, and its instances with
// their versions.
func selected(ctx context.Context, sources []Source, opts render.Options) ([]safeguard.Definition, error) {
	decided, err := render.Decide(ctx, Selections(sources), opts)
	if err != nil {
		return nil, err
	}
	var definitions []safeguard.Definition
	resolved, _ := instance.Resolve(opts.Instances, decided)
	for _, r := range resolved {
		d := safeguard.Definition{Instance: r.Name, Channel: r.Channel()}
		if r.Resolved != "" {
			d.Versions = []string{r.Resolved}
		}
		definitions = append(definitions, d)
	}
	if opts.OmitDefinitions {
		return definitions, nil
	}
	for _, d := range decided.Applications() {
		if !d.Application.IsObject() {
			definitions = append(definitions, contents.Definition(d))
			continue
		}
		definitions = append(definitions, safeguard.Definition{
			APIVersion: d.Application.APIVersion, Kind: d.Application.Kind, Name: d.Application.Name, Versions: d.Versions,
		})
	}
	return definitions, nil
}

// only returns the sources without their applications of other names.
func only(sources []Source, name string) []Source {
	narrowed := slices.Clone(sources)
	for i, s := range narrowed {
		c := &catalog.Catalog{Lists: s.Catalog.Lists}
		for _, a := range s.Catalog.Applications {
			if a.Name == name {
				c.Applications = append(c.Applications, a)
			}
		}
		narrowed[i].Catalog = c
	}
	return narrowed
}
