// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/guard"
)

// catalogOptions are the flags of a comparison of catalogs by selections in files.
type catalogOptions struct {
	file, fromFile, name string
	from, to             []string
	live                 bool
	access               flags.Access

	// unapplied are sentences on what changes the selections and was not applied.
	unapplied []string
}

func (o *catalogOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.file, "file", "f", "", flags.FileUsage)
	f.StringVar(&o.fromFile, "from-selection", "", "`FILE` or directory before, if it was edited")
	f.StringVar(&o.name, "name", "", "`NAME` of the selection, if there are several")
	f.StringArrayVar(&o.from, "from", nil, "`CATALOG` before, or NAME=CATALOG for each")
	f.StringArrayVar(&o.to, "to", nil, "`CATALOG` after, or NAME=CATALOG for each")
	o.access.AddFlags(cmd)
	f.BoolVar(&o.live, "live", false, "look at the cluster for adoption and bypass")
	flags.CompleteSelection(cmd)
	flags.CompleteFiles(cmd, "from-selection")
}

// check returns an error that names the missing flags.
func (o *catalogOptions) check() error {
	switch {
	case o.file == "":
		return o.checkEverything()
	case len(o.to) == 0:
		return errors.New("which catalog? pass --to CATALOG")
	case len(o.from) == 0 && o.fromFile == "" && !o.live:
		return errors.New("compared with what? pass --from CATALOG, --from-selection FILE, or both;" +
			" --live alone for a selection that has published nothing yet")
	case o.file == "-" && o.fromFile == "-":
		return errors.New("-f and --from-selection cannot both be standard input")
	}
	return nil
}

// checkEverything returns an error unless the flags compare two catalogs without a selection.
func (o *catalogOptions) checkEverything() error {
	switch {
	case o.fromFile != "" || o.live || o.name != "" || len(o.from) == 0 && len(o.to) == 1:
		return errors.New("which selection? pass -f FILE; two catalogs are compared without any, with --from and --to alone")
	case len(o.to) == 0:
		return errors.New("which selection? pass -f FILE; or two catalogs, with --from and --to")
	case len(o.from) > 1 || len(o.to) > 1:
		return errors.New("which selection? pass -f FILE: without any, one --from and one --to are compared")
	}
	return nil
}

// compare compares the states that the flags name.
func (o *catalogOptions) compare(ctx context.Context, stdin io.Reader, observe comparing.Observer) (*diff.Report, error) {
	if o.file == "" {
		return o.compareEverything(ctx, observe)
	}
	placed, files, err := input.PlaceSelection(ctx, o.file, o.name, stdin)
	if err != nil {
		return nil, err
	}
	o.noteUnapplied(files)
	next := placed.CatalogSelection
	if next.Namespace == "" {
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
	if o.fromFile == "" && from != nil {
		from.Lines = nil // the file had others before, which are not known
	}
	compared, err := observe.Compare(ctx, from, to)
	if err != nil {
		return nil, err
	}
	beside, at := input.Beside(ctx, placed, files)
	compared.Notes = append(compared.Notes, each.Map(beside.Warnings(at, nil), func(w documents.Warning) string { return w.Message })...)
	report := diff.New(compared)
	report.Unknown = append(report.Unknown, o.unapplied...)
	return report, nil
}

// noteUnapplied adds what changes a selection in the files.
func (o *catalogOptions) noteUnapplied(files []files.Input) {
	if sentence := input.Unapplied(files); sentence != "" && !slices.Contains(o.unapplied, sentence) {
		o.unapplied = append(o.unapplied, sentence)
	}
}

// before renders the older state. It returns nil for a selection that has not published yet.
func (o *catalogOptions) before(ctx context.Context, next *v1alpha1.CatalogSelection, stdin io.Reader) (*comparing.Side, error) {
	last, catalogs, file := next, o.from, o.file
	if o.fromFile != "" {
		placed, files, err := input.PlaceSelection(ctx, o.fromFile, o.name, stdin)
		if err != nil {
			return nil, err
		}
		o.noteUnapplied(files)
		last, file = placed.CatalogSelection, o.fromFile
	} else if len(o.from) == 0 {
		return nil, nil
	}
	if len(catalogs) == 0 {
		catalogs = o.to
	}
	// Name and namespace identify the selection, so a difference between the two files is not a change.
	last.Name, last.Namespace = next.Name, next.Namespace
	if err := comparing.EditError(last, next); err != nil {
		return nil, err
	}
	return o.side(ctx, last, file, "--from", catalogs)
}

// side renders the selection in the file over the catalogs of the flag.
func (o *catalogOptions) side(ctx context.Context, cs *v1alpha1.CatalogSelection, file, flag string, catalogs []string) (*comparing.Side, error) {
	opened, err := input.OpenSources(ctx, cs, flag, catalogs, &o.access)
	if err != nil {
		return nil, err
	}
	sources := make([]guard.Source, len(opened))
	for i, source := range opened {
		sources[i] = guard.SourceOf(cs, cs.Spec.Sources[i], source)
	}
	side, err := comparing.Render(ctx, cs, sources)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", files.Label(file), err)
	}
	return side, nil
}

// compareEverything compares two catalogs without a selection.
func (o *catalogOptions) compareEverything(ctx context.Context, observe comparing.Observer) (*diff.Report, error) {
	from, err := o.everything(ctx, o.from[0])
	if err != nil {
		return nil, fmt.Errorf("before: %w", err)
	}
	to, err := o.everything(ctx, o.to[0])
	if err != nil {
		return nil, fmt.Errorf("after: %w", err)
	}
	compared, err := observe.Compare(ctx, from, to)
	if err != nil {
		return nil, err
	}
	report := diff.New(compared)
	report.From, report.To = o.from[0], o.to[0]
	return report, nil
}

// everything renders all applications of a catalog.
func (o *catalogOptions) everything(ctx context.Context, where string) (*comparing.Side, error) {
	opened, err := input.OpenSource(ctx, where, v1alpha1.SourceReference{Name: "catalog"}, &o.access)
	if err != nil {
		return nil, err
	}
	return comparing.RenderCatalog(ctx, opened)
}
