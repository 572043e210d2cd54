package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

// selectionOptions are the flags of the verbs that take a selection.
type selectionOptions struct {
	file, name string
	sources    []string
	access     accessOptions

	// read sets the selection and, without --source, the catalogs that the documents beside it name.
	selection *selectionfile.Selection
	located   []selections.Location
}

// sourceFlag is the flag that messages name for a missing catalog.
const sourceFlag = "--source"

// fileUsage describes -f of all verbs.
const fileUsage = "`FILE` or directory of the selection, - for stdin"

func (o *selectionOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.file, "file", "f", "", fileUsage)
	f.StringVar(&o.name, "name", "", "`NAME` of the selection, if there are several")
	f.StringArrayVar(&o.sources, "source", nil, "`CATALOG`, or NAME=CATALOG for each of several")
	o.access.addFlags(cmd)
	completeSelection(cmd)
}

// read reads the selection of -f and keeps its position for messages.
func (o *selectionOptions) read(ctx context.Context, stdin io.Reader) (*v1alpha1.CatalogSelection, error) {
	if o.file == "" {
		return nil, errors.New("which selection? pass -f FILE")
	}
	found, files, err := placeSelection(ctx, o.file, o.name, stdin)
	if err != nil {
		return nil, err
	}
	if len(o.sources) == 0 {
		if o.located, err = locateSources(ctx, found, files); err != nil {
			return nil, err
		}
	}
	o.selection, o.file = found, found.File()
	return found.CatalogSelection, nil
}

// open compiles the selection and loads the catalogs of its sources.
func (o *selectionOptions) open(ctx context.Context, cs *v1alpha1.CatalogSelection, notes io.Writer) ([]selection.Source, render.Options, error) {
	options, err := render.FromSpec(cs)
	if err != nil {
		return nil, render.Options{}, fmt.Errorf("%s: %w", label(o.file), err)
	}
	if len(o.sources) == 0 {
		sources, err := o.openLocated(ctx, notes)
		return sources, options, err
	}
	sources, err := openSources(ctx, cs, sourceFlag, o.sources, &o.access)
	return sources, options, err
}

// decide reads and opens the selection for verbs whose output does not depend on its namespace.
func (o *selectionOptions) decide(ctx context.Context, stdin io.Reader, notes io.Writer) ([]selection.Source, render.Options, error) {
	cs, err := o.read(ctx, stdin)
	if err != nil {
		return nil, render.Options{}, err
	}
	if cs.Namespace == "" {
		cs.Namespace = "default"
	}
	return o.open(ctx, cs, notes)
}
