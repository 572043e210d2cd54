// SPDX-License-Identifier: Apache-2.0

// Package lint is winnow lint: it finds what is wrong with catalogs and selections. It must not know a cluster.
package lint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/chartflags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/linting"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/lint"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/loading"
)

// lintOptions are the flags of winnow lint.
type lintOptions struct {
	linting.Rules
	flags.CatalogFiles
	input.Options
	charts         chartflags.Charts
	output, failOn *flags.Choice
	strict         bool
}

// Documents returns an empty document of each kind that -o json prints.
func Documents() []any {
	return []any{report.NewLint()}
}

// New returns winnow lint.
func New() *cobra.Command {
	var o lintOptions
	cmd := &cobra.Command{
		Use:   "lint CATALOG... [-f SELECTION]",
		Short: "Find what is wrong with catalogs, with path and line",
		Long: "Find what is wrong with catalogs, with path and line. An error is what Winnow,\n" +
			"the API server or KKP refuses, or what uninstalls applications. A warning is\n" +
			"what they accept, and what probably has another effect than the author expects.\n" +
			"docs/lint.md explains every rule.\n\n" +
			"A CATALOG is a directory, a .tar.gz file or oci://host/repository[:tag|@digest].\n" +
			"Without --crds, the fields of KKP's and Cozystack's definitions are known.\n" +
			"Beyond 20 findings the first of each rule are shown; -o json and yaml have all.\n" +
			"A comment \"# winnow:ignore RULE\" leaves findings out.\n\n" +
			"With -f, and with or without a CATALOG, it looks at a CatalogSelection, and with\n" +
			"instances at the sources and Kustomizations in the same file or directory:\n" +
			"a tag that moves under a range of versions, a Kustomization without wait: true,\n" +
			"or one that renames objects. With a CATALOG for its only source, or --source, it\n" +
			"renders the selection, and finds names and tiers that match nothing, and\n" +
			"packages of operators that others require and it leaves out.\n\n" +
			"--charts renders the chart of each version with the default values. With -f it\n" +
			"renders the selected versions with the values of instances, for the Kubernetes\n" +
			"versions of spec.platform. It finds charts that are missing, values that a chart\n" +
			"does not read or its schema refuses, and APIs that Kubernetes has removed. It\n" +
			"fetches charts from behind the mirrors, with --charts=from from before them,\n" +
			"with --charts=DIR from NAME-VERSION.tgz files and directories in DIR. Each is\n" +
			"rendered in a process of its own, with limits and without network and cluster.\n\n" +
			"Exit codes: 0 nothing as bad as --fail-on, 1 something is, 2 usage or I/O.",
		Example: "  winnow lint ./catalog\n\n" +
			"  # as strict as the API server\n" +
			"  winnow lint ./catalog --crds ./crds\n\n" +
			"  # annotations in a pull request\n" +
			"  winnow lint ./catalog -o github --fail-on warning\n\n" +
			"  # a selection with instances, and what stands beside it\n" +
			"  winnow lint -f clusters/production\n\n" +
			"  # and whether its names and tiers are in the catalog\n" +
			"  winnow lint ./catalog -f clusters/production\n\n" +
			"  # and whether charts read its values\n" +
			"  winnow lint ./catalog -f clusters/production --charts",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.File != "":
				return nil
			case len(o.Sources) > 0:
				return errors.New("--source is the catalog of a selection: pass -f FILE as well, or the catalog as an argument")
			}
			return flags.Arguments(1, math.MaxInt, "at least one CATALOG, or -f SELECTION")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.InOrStdin(), flags.StreamsOf(cmd))
		},
	}
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatJSON, output.FormatYAML, output.FormatMarkdown, output.FormatGitHub)
	o.failOn = flags.AddChoice(cmd, "fail-on", "", "least `SEVERITY` that fails", string(rules.Error), string(rules.Warning))
	cmd.Flags().BoolVar(&o.strict, "strict", false, "unmatched names and missing facts are errors")
	o.Rules.AddFlags(cmd)
	o.charts.AddFlags(cmd)
	o.CatalogFiles.AddFlags(cmd)
	o.Options.AddFlags(cmd)
	return cmd
}

func (o *lintOptions) run(ctx context.Context, catalogs []string, stdin io.Reader, out output.Streams) error {
	if err := o.Check(); err != nil {
		return err
	}
	if o.Name != "" && o.File == "" {
		return errors.New("--name picks a selection: pass -f FILE as well")
	}
	looker, err := o.openCharts(ctx)
	if err != nil {
		return err
	}
	report := report.NewLint()
	report.Least, report.Wrapped = rules.Info, output.IsTerminal(out.Stdout)
	if out.Quiet() {
		report.Least = rules.Severity(o.failOn.Value)
	}
	if o.File != "" {
		selection := selectionLinter{&o.Options, o.Ignore, o.strict, looker, report}
		if err := selection.lint(ctx, catalogs, stdin, out.Notes); err != nil {
			return err
		}
	}
	failures := o.lint(ctx, catalogs, looker, report)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := report.Write(out.Stdout, o.output.Value); err != nil {
		return err
	}
	if len(failures) > 0 {
		return fail(report, failures, out)
	}
	fails := func(f rules.Finding) bool { return f.Severity.AtLeast(rules.Severity(o.failOn.Value)) }
	if slices.ContainsFunc(report.Findings, fails) {
		return output.Finding(errors.New(report.Summary()))
	}
	fmt.Fprintln(out.Notes, report.Summary())
	return nil
}

// openCharts returns what looks into charts; nil without --charts.
func (o *lintOptions) openCharts(ctx context.Context) (*chartLinter, error) {
	if !o.charts.IsSet() {
		return nil, nil
	}
	renderer, err := o.charts.Renderer(ctx, &o.Access)
	if err != nil {
		return nil, err
	}
	return &chartLinter{Renderer: renderer}, nil
}

// lint adds the findings of the catalogs to the report. It returns an error for each catalog that could not be read.
func (o *lintOptions) lint(ctx context.Context, catalogs []string, looker *chartLinter, report *report.Lint) (failures []error) {
	options, err := o.Rules.Open(ctx, &o.Access)
	if err != nil {
		report.Unreadable("", err)
		return []error{err}
	}
	options.Strict = o.strict
	if looker != nil && o.File == "" { // otherwise the selection has looked into the charts, with its mirrors and values
		options.Further = looker
	}
	for _, where := range catalogs {
		if err := o.lintCatalog(ctx, where, len(catalogs) == 1, options, report); err != nil {
			report.Unreadable(where, err)
			failures = append(failures, err)
		}
	}
	return failures
}

// lintCatalog adds the findings of a CATALOG, valid or not.
func (o *lintOptions) lintCatalog(ctx context.Context, where string, alone bool, options lint.Options, report *report.Lint) error {
	opened, err := input.OpenCatalog(where, o.Format.Value, &o.Access)
	if err != nil {
		return err
	}
	files, err := input.ReadFiles(ctx, where, opened, loading.LimitsOf(o.Format.Value), render.LocationOf(o.Source()))
	if err != nil {
		return err
	}
	if files, options.Format, err = loading.FilesAt(where, files, render.LocationOf(o.Source())); err != nil {
		return err
	}
	result, err := lint.Run(ctx, files.FS(), options)
	if err != nil {
		return fmt.Errorf("linting %s: %w", where, err)
	}
	report.Add(result, locate(opened, where, alone))
	return nil
}

// locate returns a function that maps a path in a CATALOG to the path in findings. A directory is prepended, and
// another CATALOG only if there are several.
func locate(opened input.OpenedCatalog, where string, alone bool) func(string) string {
	if dir, ok := opened.(input.Directory); ok {
		return dir.Locate
	}
	return func(path string) string {
		if alone {
			return path
		}
		return where + "/" + path
	}
}

// fail prints the summary and all failures but one. It returns that one, which decides the exit code: an
// error of input or output, if there is any.
func fail(r *report.Lint, failures []error, out output.Streams) error {
	if r.Applications > 0 {
		fmt.Fprintln(out.Notes, r.Summary())
	}
	finding := func(err error) int {
		if output.IsFinding(err) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(failures, func(a, b error) int { return finding(a) - finding(b) })
	for _, err := range failures[:len(failures)-1] {
		output.PrintError(out.Stderr, err)
	}
	return failures[len(failures)-1]
}
