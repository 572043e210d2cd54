package guard

import (
	"context"
	"slices"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// byEdit returns the changes that the new spec causes over the catalogs of the last publication. They
// excuse the same changes over the new catalogs.
func byEdit(ctx context.Context, last Published, next Next, changes []safeguard.Change) []safeguard.Change {
	if last.Older {
		return changes
	}
	sources, unchanged := atLastPublication(last.Sources, next.Sources)
	if unchanged && len(last.Sources) > 0 {
		return changes
	}
	if last.Sources == nil {
		return nil
	}
	opts, err := render.FromSpec(next.Selection)
	if err != nil {
		return nil
	}
	if definitions, err := selected(ctx, sources, opts); err == nil {
		return safeguard.Compare(last.Definitions, definitions)
	}
	// The expression cannot be evaluated for some application, so each application is tried alone.
	var made []safeguard.Change
	for _, d := range last.Definitions {
		if !slices.ContainsFunc(changes, func(c safeguard.Change) bool { return c.Key == d.Key() }) {
			continue
		}
		if definitions, err := selected(ctx, only(sources, d.Name), opts); err == nil {
			made = append(made, safeguard.Compare([]safeguard.Definition{d}, definitions)...)
		}
	}
	return made
}

// selected returns the definitions that a spec selects from sources, before any transformation.
func selected(ctx context.Context, sources []Source, opts render.Options) ([]safeguard.Definition, error) {
	decided, err := render.Decide(ctx, Selections(sources), opts)
	if err != nil {
		return nil, err
	}
	var definitions []safeguard.Definition
	for _, d := range decided.Applications() {
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
