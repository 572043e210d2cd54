package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
)

// compareCatalogs compares what the flags name.
func (o *diffOptions) compareCatalogs(ctx context.Context, stdin io.Reader) (*diff.Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	next, err := readSelection(ctx, o.file, o.name, stdin)
	if err != nil {
		return nil, err
	}
	assumed := next.Namespace == ""
	if assumed {
		next.Namespace = "default"
	}
	last, catalogs, file := next, o.from, o.file
	if o.fromFile != "" {
		if last, err = readSelection(ctx, o.fromFile, o.name, stdin); err != nil {
			return nil, err
		}
		file = o.fromFile
	}
	if len(catalogs) == 0 {
		catalogs = o.to
	}
	// What an earlier selection is called and where it is, is nothing that can change.
	last.Name, last.Namespace = next.Name, next.Namespace
	from, err := o.side(ctx, last, file, "--from", catalogs)
	if err != nil {
		return nil, fmt.Errorf("before: %w", err)
	}
	to, err := o.side(ctx, next, o.file, "--to", o.to)
	if err != nil {
		return nil, fmt.Errorf("after: %w", err)
	}
	cluster, err := o.cluster()
	if err != nil {
		return nil, err
	}
	compared, err := compareSides(ctx, cluster, from, to)
	if err != nil {
		return nil, err
	}
	if edited, err := over(ctx, next, from.Sources); err == nil {
		compared.Explain(edited)
	}
	if assumed && approvesRender(compared.Held) {
		compared.Notes = append(compared.Notes, unknownNamespace)
	}
	return diff.New(compared), nil
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

// over renders a selection over the catalogs of another state; nil where that does not have them all.
func over(ctx context.Context, cs *v1alpha1.CatalogSelection, older []guard.Source) (*diff.Side, error) {
	var sources []guard.Source
	for _, ref := range cs.Spec.Sources {
		kind, name := guard.SourceKey(cs, ref)
		i := slices.IndexFunc(older, func(s guard.Source) bool { return s.Kind == kind && s.Name == name && s.Path == ref.Path })
		if i < 0 {
			return nil, nil
		}
		sources = append(sources, older[i])
	}
	return diff.Render(ctx, cs, sources)
}
