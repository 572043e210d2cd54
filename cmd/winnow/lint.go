package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/lint"
)

// lintOptions are the flags of winnow lint.
type lintOptions struct {
	ruleOptions
	placeOptions
	selectionOptions
	output, failOn *choice
	strict         bool
}

func newLintCommand() *cobra.Command {
	var o lintOptions
	cmd := &cobra.Command{
		Use:   "lint CATALOG... [-f SELECTION]",
		Short: "Find what is wrong with catalogs, with path and line",
		Long: "Find what is wrong with catalogs, with path and line. An error is what Winnow,\n" +
			"the API server or KKP refuses, or what uninstalls applications; a warning works\n" +
			"differently than it looks. docs/lint.md explains every rule.\n\n" +
			"A CATALOG is a directory, a .tar.gz file or oci://host/repository[:tag|@digest].\n" +
			"Without --crds, the fields of KKP's and Cozystack's definitions are known.\n" +
			"Beyond 20 findings the first of each rule are shown; -o json and yaml have all.\n" +
			"A comment \"# winnow:ignore RULE\" leaves findings out.\n\n" +
			"With -f, and with or without a CATALOG, it looks at a CatalogSelection with\n" +
			"instances, and at the sources and Kustomizations in the same file or directory:\n" +
			"a tag that moves under a range of versions, a Kustomization without wait: true,\n" +
			"or one that renames objects. With --source as well, it renders the selection,\n" +
			"and finds the packages of operators that others require and it leaves out.\n\n" +
			"Exit codes: 0 nothing as bad as --fail-on, 1 something is, 2 usage or I/O.",
		Example: "  winnow lint ./catalog\n\n" +
			"  # as strict as the API server\n" +
			"  winnow lint ./catalog --crds ./crds\n\n" +
			"  # annotations in a pull request\n" +
			"  winnow lint ./catalog -o github --fail-on warning\n\n" +
			"  # a selection with instances, and what stands beside it\n" +
			"  winnow lint -f clusters/production\n\n" +
			"  # and whether the packages that it selects have what they require\n" +
			"  winnow lint -f clusters/production --source ./catalog",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.file != "":
				return nil
			case len(o.sources) > 0:
				return errors.New("--source is the catalog of a selection: pass -f FILE as well, or the catalog as an argument")
			}
			return arguments(1, math.MaxInt, "at least one CATALOG")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.InOrStdin(), streams{cmd.OutOrStdout(), cmd.ErrOrStderr(), notes(cmd)})
		},
	}
	o.output = addFormat(cmd, formatGitHub)
	o.failOn = addChoice(cmd, "fail-on", "", "least `SEVERITY` that fails", string(lint.Error), string(lint.Warning))
	cmd.Flags().BoolVar(&o.strict, "strict", false, "what functions do not say of themselves is an error")
	o.ruleOptions.addFlags(cmd)
	o.placeOptions.addFlags(cmd)
	o.selectionOptions.addFlags(cmd)
	return cmd
}

func (o *lintOptions) run(ctx context.Context, catalogs []string, stdin io.Reader, out streams) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.name != "" && o.file == "" {
		return errors.New("--name picks a selection: pass -f FILE as well")
	}
	report := newLintReport()
	report.least, report.wrapped = lint.Info, isTerminal(out.stdout)
	if out.quiet() {
		report.least = lint.Severity(o.failOn.value)
	}
	if err := o.lintSelection(ctx, stdin, out.notes, report); err != nil {
		return err
	}
	failures := o.lint(ctx, catalogs, report)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := report.write(out.stdout, o.output.value); err != nil {
		return err
	}
	if len(failures) > 0 {
		return report.fail(failures, out)
	}
	fails := func(f lint.Finding) bool { return f.Severity.AtLeast(lint.Severity(o.failOn.value)) }
	if slices.ContainsFunc(report.Findings, fails) {
		return &findingError{errors.New(report.summary())}
	}
	fmt.Fprintln(out.notes, report.summary())
	return nil
}

// lint adds the findings of the catalogs to the report. It returns the errors of those that could not be read.
func (o *lintOptions) lint(ctx context.Context, catalogs []string, report *lintReport) (failures []error) {
	options, err := o.ruleOptions.open(ctx, &o.access)
	if err != nil {
		report.unreadable("", err)
		return []error{err}
	}
	options.Strict = o.strict
	for _, where := range catalogs {
		opened, result, err := o.lintCatalog(ctx, where, options)
		if err != nil {
			report.unreadable(where, err)
			failures = append(failures, err)
			continue
		}
		report.add(result, locate(opened, where, len(catalogs) == 1))
	}
	return failures
}

// lintCatalog lints a CATALOG, valid or not.
func (o *lintOptions) lintCatalog(ctx context.Context, where string, options lint.Options) (openedCatalog, lint.Result, error) {
	opened, err := openCatalog(where, o.format.value, &o.access)
	if err != nil {
		return nil, lint.Result{}, err
	}
	files, err := readFiles(ctx, where, opened, render.LimitsOf(o.format.value))
	if err != nil {
		return nil, lint.Result{}, err
	}
	if files, options.Format, err = render.FilesAt(where, files, render.PlaceOf(o.source())); err != nil {
		return nil, lint.Result{}, err
	}
	result, err := lint.Run(ctx, files.FS(), options)
	if err != nil {
		return nil, lint.Result{}, fmt.Errorf("linting %s: %w", where, err)
	}
	return opened, result, nil
}

// locate returns a function that maps a path in a CATALOG to the path in findings. A directory is prepended, and
// another CATALOG only if there are several.
func locate(opened openedCatalog, where string, alone bool) func(string) string {
	if dir, ok := opened.(directory); ok {
		return dir.locate
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
func (r *lintReport) fail(failures []error, out streams) error {
	if r.Applications > 0 {
		fmt.Fprintln(out.notes, r.summary())
	}
	finding := func(err error) int {
		if isFinding(err) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(failures, func(a, b error) int { return finding(a) - finding(b) })
	for _, err := range failures[:len(failures)-1] {
		printError(out.stderr, err)
	}
	return failures[len(failures)-1]
}
