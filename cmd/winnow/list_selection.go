package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

// selectionOptions are the flags of the verbs that ask what a selection decides.
type selectionOptions struct {
	file, name string
	sources    []string
	plainHTTP  bool
}

func (o *selectionOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.file, "file", "f", "", "`FILE` with the selection, - for standard input")
	f.StringVar(&o.name, "name", "", "`NAME` of the selection, if the file holds several")
	f.StringArrayVar(&o.sources, "source", nil, "`CATALOG`, or NAME=CATALOG for each of several")
	f.BoolVar(&o.plainHTTP, "plain-http", false, "talk to the registry without TLS")
}

// open reads the selection and loads the catalogs of its sources.
func (o *selectionOptions) open(ctx context.Context, stdin io.Reader) ([]selection.Source, render.Options, error) {
	cs, err := readSelection(ctx, o.file, o.name, stdin)
	if err != nil {
		return nil, render.Options{}, err
	}
	if cs.Namespace == "" {
		cs.Namespace = "default" // nothing that is asked here depends on it
	}
	options, err := render.FromSpec(cs)
	if err != nil {
		return nil, render.Options{}, fmt.Errorf("%s: %w", label(o.file), err)
	}
	sources, err := openSources(ctx, cs, o.sources, o.plainHTTP)
	return sources, options, err
}

func warnUnknown(stderr io.Writer, result selection.Result) {
	if len(result.UnknownNames) > 0 {
		fmt.Fprintf(stderr, "warning: no catalog has %s\n", strings.Join(result.UnknownNames, ", "))
	}
}
