package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
)

// compareCatalogs compares what the flags name.
func (o *diffOptions) compareCatalogs(ctx context.Context, stdin io.Reader) (*diff.Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.file == "" {
		return o.compareEverything(ctx)
	}
	next, err := readSelection(ctx, o.file, o.name, stdin)
	if err != nil {
		return nil, err
	}
	assumed := next.Namespace == ""
	if assumed {
		next.Namespace = "default"
	}
	from, err := o.before(ctx, next, stdin)
	if err != nil {
		return nil, fmt.Errorf("before: %w", err)
	}
	to, err := o.side(ctx, next, o.file, "--to", o.to)
	if err != nil {
		return nil, fmt.Errorf("after: %w", err)
	}
	if o.fromFile != "" {
		to.Reviewed = from.Selection.Spec.Safeguards.Approve
	}
	cluster, err := o.cluster()
	if err != nil {
		return nil, err
	}
	compared, err := cluster.Compare(ctx, from, to)
	if err != nil {
		return nil, err
	}
	if err := inSteps(ctx, from, to, compared); err != nil {
		return nil, err
	}
	if assumed {
		compared.AssumeNamespace()
	}
	return diff.New(compared), nil
}

// before renders the older state; nil for a selection that publishes for the first time.
func (o *diffOptions) before(ctx context.Context, next *v1alpha1.CatalogSelection, stdin io.Reader) (*diff.Side, error) {
	last, catalogs, file := next, o.from, o.file
	if o.fromFile != "" {
		var err error
		if last, err = readSelection(ctx, o.fromFile, o.name, stdin); err != nil {
			return nil, err
		}
		file = o.fromFile
	} else if len(o.from) == 0 {
		return nil, nil
	}
	if len(catalogs) == 0 {
		catalogs = o.to
	}
	// What an earlier selection is called and where it is, is nothing that can change.
	last.Name, last.Namespace = next.Name, next.Namespace
	return o.side(ctx, last, file, "--from", catalogs)
}

// inSteps notes what is lost while only one of spec and catalogs is new.
func inSteps(ctx context.Context, from, to *diff.Side, out *diff.Selection) error {
	if from == nil {
		return nil
	}
	edited, err := over(ctx, to.Selection, from.Sources, to.Sources)
	if err != nil {
		return err
	}
	updated, err := over(ctx, from.Selection, to.Sources, from.Sources)
	if err != nil {
		return err
	}
	out.Transient = diff.NewTransient(from, to, edited, updated)
	out.Explain(edited)
	return nil
}

// side renders a state of the selection that is in the file.
func (o *diffOptions) side(ctx context.Context, cs *v1alpha1.CatalogSelection, file, flag string, catalogs []string) (*diff.Side, error) {
	opened, err := openSources(ctx, cs, flag, catalogs, o.plainHTTP)
	if err != nil {
		return nil, err
	}
	sources := make([]guard.Source, len(opened))
	for i, source := range opened {
		ref := cs.Spec.Sources[i]
		kind, name := guard.SourceKey(cs, ref)
		sources[i] = guard.Source{Kind: kind, Name: name, Path: ref.Path, Checksum: source.Digest, Catalog: source.Catalog}
	}
	side, err := diff.Render(ctx, cs, sources)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label(file), err)
	}
	return side, nil
}

// over renders a selection over the catalogs of another state, or over its own where that does not have
// them; nil where it cannot be rendered, so that nothing is published of it.
func over(ctx context.Context, cs *v1alpha1.CatalogSelection, other, own []guard.Source) (*diff.Side, error) {
	sources := slices.Clone(own)
	for i, mine := range own {
		for _, source := range other {
			if source.Kind == mine.Kind && source.Name == mine.Name && source.Path == mine.Path {
				sources[i] = source
			}
		}
	}
	side, err := diff.Render(ctx, cs, sources)
	var invalid *render.Error
	if errors.As(err, &invalid) {
		return nil, nil
	}
	return side, err
}
