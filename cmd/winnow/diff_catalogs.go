package main

import (
	"context"
	"fmt"
	"io"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
)

// compareCatalogs compares what the flags name.
func (o *diffOptions) compareCatalogs(ctx context.Context, stdin io.Reader) (*diff.Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	next, err := o.read(ctx, o.file, stdin)
	if err != nil {
		return nil, err
	}
	last, catalogs, file := next, o.from, o.file
	if o.fromFile != "" {
		if last, err = o.read(ctx, o.fromFile, stdin); err != nil {
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
	return diff.New(compared), nil
}

// read reads a selection, whose namespace does not matter here.
func (o *diffOptions) read(ctx context.Context, file string, stdin io.Reader) (*v1alpha1.CatalogSelection, error) {
	cs, err := readSelection(ctx, file, o.name, stdin)
	if err == nil && cs.Namespace == "" {
		cs.Namespace = "default"
	}
	return cs, err
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
