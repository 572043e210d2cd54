// SPDX-License-Identifier: Apache-2.0

package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

// Options are the flags of the verbs that take a selection.
type Options struct {
	File, Name string
	Sources    []string
	Access     flags.Access

	// Read sets the fields below: the selection, without --source the catalogs that the documents beside it name, and
	// the fields of these that are not evaluated.
	Selection *selectionfile.Selection
	Located   []documents.Location
	Unapplied string
}

// AddFlags adds the flags, and completes them.
func (o *Options) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.File, "file", "f", "", flags.FileUsage)
	f.StringVar(&o.Name, "name", "", "`NAME` of the selection, if there are several")
	f.StringArrayVar(&o.Sources, "source", nil, "`CATALOG`, or NAME=CATALOG for each of several")
	o.Access.AddFlags(cmd)
	flags.CompleteSelection(cmd)
}

// Read reads the selection of -f and keeps its position for messages.
func (o *Options) Read(ctx context.Context, stdin io.Reader) (*v1alpha1.CatalogSelection, error) {
	if o.File == "" {
		return nil, errors.New("which selection? pass -f FILE")
	}
	found, files, err := PlaceSelection(ctx, o.File, o.Name, stdin)
	if err != nil {
		return nil, err
	}
	if len(o.Sources) == 0 {
		if o.Located, err = locateSources(ctx, found, files); err != nil {
			return nil, err
		}
	}
	o.Selection, o.File, o.Unapplied = found, found.File(), Unapplied(files)
	return found.CatalogSelection, nil
}

// Open compiles the selection and loads the catalogs of its sources.
func (o *Options) Open(ctx context.Context, cs *v1alpha1.CatalogSelection, notes io.Writer) ([]selection.Source, render.Options, error) {
	options, err := render.FromSpec(cs)
	if err != nil {
		return nil, render.Options{}, fmt.Errorf("%s: %w", files.Label(o.File), err)
	}
	if o.Unapplied != "" {
		output.Warn(notes, o.Unapplied)
	}
	var sources []selection.Source
	if len(o.Sources) == 0 {
		sources, err = openLocated(ctx, o.Selection.Spec.Sources, o.Located, &o.Access, notes)
	} else {
		sources, err = OpenSources(ctx, cs, flags.SourceFlag, o.Sources, &o.Access)
	}
	for _, source := range sources {
		if source.Note != "" {
			output.PrintNote(notes, fmt.Sprintf("note: source %s: %s", source.Name, source.Note))
		}
	}
	return sources, options, err
}

// Decide reads and opens the selection for verbs whose output does not depend on its namespace.
func (o *Options) Decide(ctx context.Context, stdin io.Reader, notes io.Writer) ([]selection.Source, render.Options, error) {
	cs, err := o.Read(ctx, stdin)
	if err != nil {
		return nil, render.Options{}, err
	}
	cs.Namespace = cmp.Or(cs.Namespace, "default")
	return o.Open(ctx, cs, notes)
}
