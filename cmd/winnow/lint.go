package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/lint"
)

// lintOptions are the flags of winnow lint.
type lintOptions struct {
	plainHTTP      bool
	output, failOn *choice
}

func newLintCommand() *cobra.Command {
	var o lintOptions
	cmd := &cobra.Command{
		Use:   "lint CATALOG",
		Short: "Find what is wrong with a catalog, with path and line",
		Long: "Find what is wrong with a catalog, with path and line: what Winnow, the API\n" +
			"server or KKP would refuse, and what KKP accepts although it cannot work.\n" +
			"docs/lint.md explains every rule.\n\n" +
			"A CATALOG is a directory, a .tar.gz file or oci://host/repository[:tag|@digest].\n" +
			"Exit codes: 0 nothing as bad as --fail-on, 1 something is, 2 usage or I/O.",
		Example: "  winnow lint ./catalog\n\n" +
			"  # annotations in a pull request\n" +
			"  winnow lint ./catalog -o github --fail-on warning",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeFirst,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0], cmd.OutOrStdout(), notes(cmd))
		},
	}
	o.output = addFormat(cmd, formatGitHub)
	o.failOn = addChoice(cmd, "fail-on", "", "least `SEVERITY` that fails", string(lint.Error), string(lint.Warning))
	cmd.Flags().BoolVar(&o.plainHTTP, "plain-http", false, "talk to the registry without TLS")
	return cmd
}

func (o *lintOptions) run(ctx context.Context, where string, stdout, notes io.Writer) error {
	files, prefix, err := readCatalog(ctx, where, o.plainHTTP)
	if err != nil {
		return err
	}
	result, err := lint.Run(ctx, files.FS())
	if err != nil {
		return fmt.Errorf("linting %s: %w", where, err)
	}
	report := newLintReport(result, prefix)
	if err := report.write(stdout, o.output.value); err != nil {
		return err
	}
	summary := report.summary()
	for _, finding := range result.Findings {
		if finding.Severity.AtLeast(lint.Severity(o.failOn.value)) {
			return &render.Error{Reason: v1alpha1.InvalidCatalogReason, Err: errors.New(summary)}
		}
	}
	fmt.Fprintln(notes, summary)
	return nil
}

// lintReport is what lint prints.
type lintReport struct {
	Applications int            `json:"applications"`
	Errors       int            `json:"errors"`
	Warnings     int            `json:"warnings"`
	Findings     []lint.Finding `json:"findings"`
}

func newLintReport(result lint.Result, prefix func(string) string) *lintReport {
	report := &lintReport{
		Applications: result.Applications,
		Errors:       result.Count(lint.Error),
		Warnings:     result.Count(lint.Warning),
		Findings:     make([]lint.Finding, 0, len(result.Findings)), // [] in JSON, not null
	}
	for _, finding := range result.Findings {
		finding.Path = prefix(finding.Path)
		report.Findings = append(report.Findings, finding)
	}
	return report
}

func (r *lintReport) summary() string {
	return fmt.Sprintf("%s, %s in %s", count(r.Errors, "error"), count(r.Warnings, "warning"),
		count(r.Applications, "application"))
}

func (r *lintReport) write(w io.Writer, format string) error {
	if format != formatGitHub {
		return write(w, format, r)
	}
	var text strings.Builder
	for _, finding := range r.Findings {
		fmt.Fprintln(&text, annotation(finding))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// table has two lines a finding: where, and what.
func (r *lintReport) table(w io.Writer) {
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%s  %s  %s\n%s\n", plain(place(f)), f.Severity, f.Rule, wrap(f.Message, "  "))
	}
}

func (r *lintReport) markdown(w io.Writer) {
	if len(r.Findings) == 0 {
		fmt.Fprintln(w, "Nothing found.")
		return
	}
	g := grid{header: []string{"Where", "Severity", "Rule", "Message"}}
	for _, f := range r.Findings {
		g.rows = append(g.rows, []string{place(f), string(f.Severity), f.Rule, f.Message})
	}
	g.markdown(w)
}

// place returns path:line, which terminals and editors open.
func place(f lint.Finding) string {
	if f.Line == 0 {
		return f.Path
	}
	return fmt.Sprintf("%s:%d", f.Path, f.Line)
}

var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// annotation is a workflow command of GitHub Actions.
func annotation(f lint.Finding) string {
	command := string(f.Severity)
	if f.Severity == lint.Info {
		command = "notice"
	}
	line := ""
	if f.Line > 0 {
		line = fmt.Sprintf(",line=%d", f.Line)
	}
	return fmt.Sprintf("::%s file=%s%s,title=%s::%s", command, escapeProperty.Replace(f.Path), line,
		escapeProperty.Replace(f.Rule), escapeData.Replace(f.Message))
}
