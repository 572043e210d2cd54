// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/functions"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/finding"
	"github.com/winnow-dev/winnow/render/krmfunctions"
)

// viewOptions are the flags of winnow functions view.
type viewOptions struct {
	output *flags.Choice
	strict bool
	access flags.Access
}

func newFunctionsViewCommand() *cobra.Command {
	var o viewOptions
	cmd := &cobra.Command{
		Use:   "view CATALOG [NAME]",
		Short: "Print what a catalog of functions has",
		Long: "Print the functions of a catalog, or all that it has about one: publisher,\n" +
			"versions, runtimes with their digests, needs (network, storage), the fields of\n" +
			"the schema, and examples. NAME is kind.group, or the kind. Facts that a function\n" +
			"should have and lacks are listed on stderr; with --strict they are an error.\n" +
			"Functions that are invalid are listed there, too, and not printed.\n\n" +
			"A CATALOG is a YAML file, a directory, a .tar.gz file,\n" +
			"oci://host/repository[:tag|@digest] or https://host/file@sha256:DIGEST.\n" +
			"Exit codes: 0 printed, 1 functions are invalid, or there is no such function,\n" +
			"2 usage or I/O.",
		Example: "  winnow functions view ./catalog.yaml\n\n" +
			"  winnow functions view oci://ghcr.io/org/functions:v1 SetLogger.example.com",
		Args:              flags.Arguments(1, 2, "a CATALOG, and the NAME of a function"),
		ValidArgsFunction: flags.CompleteFirst,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0], args[1:], cmd.OutOrStdout(), flags.Notes(cmd))
		},
	}
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatJSON, output.FormatYAML)
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail if functions lack facts")
	o.access.AddFlags(cmd)
	return cmd
}

// functionList is the output of functions view.
type functionList struct {
	output.Document
	Catalog   string                  `json:"catalog"`
	Functions []functions.Description `json:"functions"`
	// Violations are what makes other functions of the catalog unusable.
	Violations []string `json:"violations"`
	// Warnings are what the catalog should tell, and does not.
	Warnings []string `json:"warnings"`

	// detailed prints all of each function.
	detailed bool
}

func newFunctionList() *functionList {
	return &functionList{Document: output.NewDocument("FunctionList"), Functions: []functions.Description{}, Violations: []string{}, Warnings: []string{}}
}

func (o *viewOptions) run(ctx context.Context, where string, name []string, stdout, notes io.Writer) error {
	source, err := openFunctions(ctx, where, &o.access)
	if err != nil {
		return err
	}
	locate(source, source.Violations.Kept)
	locate(source, source.Warnings.Kept)
	if err := source.Strict(); o.strict && err != nil {
		return output.Finding(fmt.Errorf("the catalog of functions %s, strictly: %w", where, err))
	}
	invalid := source.Valid()
	if invalid != nil {
		invalid = output.Finding(fmt.Errorf("the catalog of functions %s: %w", where, invalid))
	}
	list, chosen := newFunctionList(), source.Functions
	list.Catalog, list.detailed = redact.Text(where), len(name) > 0
	switch {
	case len(name) > 0:
		if chosen = source.Named(name[0]); len(chosen) == 0 {
			return unknownFunction(source, name[0])
		}
		invalid = nil // it is valid
	case invalid != nil && len(chosen) == 0:
		return invalid
	}
	list.add(source, chosen)
	list.warn(notes, source.Warnings.Omitted)
	// A catalog may have users in its addresses.
	if err := output.WriteRedacted(stdout, o.output.Value, list, redact.Text); err != nil {
		return err
	}
	return invalid
}

// add adds functions of a catalog, and what is wrong with the others.
func (l *functionList) add(source *functions.Source, chosen []*krmfunctions.Function) {
	l.Functions = append(l.Functions, each.Map(chosen, source.Describe)...)
	l.Violations = append(l.Violations, each.Map(source.Violations.Kept, finding.Finding.String)...)
	l.Warnings = append(l.Warnings, each.Map(source.Warnings.Kept, finding.Finding.String)...)
}

func unknownFunction(source *functions.Source, name string) error {
	if invalid := source.Invalid(name); invalid != nil {
		locate(source, invalid.Kept)
		return output.Finding(fmt.Errorf("the function %s of %s: %w", plaintext.Line(name), source.Reference, invalid))
	}
	var known []string
	for _, f := range source.Functions {
		known = append(known, f.Name(), f.Kind)
	}
	return output.Finding(fmt.Errorf("%s has no function %s%s", source.Reference, plaintext.Line(name),
		strings.TrimSuffix(flags.DidYouMean(name, "", known), ";")))
}

// warn prints the first warnings, and the number of the others.
func (l *functionList) warn(notes io.Writer, omitted int) {
	shown := l.Warnings[:min(len(l.Warnings), report.MaxUngrouped)]
	for _, one := range shown {
		output.PrintNote(notes, "warning: "+one)
	}
	if more := len(l.Warnings) + omitted - len(shown); more > 0 {
		fmt.Fprintf(notes, "and %s more\n", plaintext.Count(more, "warning"))
	}
}

func (l *functionList) Table(w io.Writer) {
	if l.detailed {
		for i, f := range l.Functions {
			if i > 0 {
				fmt.Fprintln(w)
			}
			printFunction(w, f)
		}
		return
	}
	g := output.Grid{Header: []string{"NAME", "VERSION", "PUBLISHER", "RUNTIME", "NEEDS", "PINNED"}}
	for _, f := range l.Functions {
		for _, v := range f.Versions {
			var runtimes []string
			pinned := "yes"
			for _, one := range v.Runtimes {
				runtimes = append(runtimes, one.Type+" "+cmp.Or(one.Platform, one.Address))
				if one.SHA256 == "" {
					pinned = "no"
				}
			}
			g.Rows = append(g.Rows, []string{f.Name, v.Name, output.OrDash(f.Publisher), strings.Join(runtimes, ", "),
				output.OrDash(strings.Join(v.Needs, ", ")), pinned})
		}
	}
	g.Print(w)
}

func printFunction(w io.Writer, f functions.Description) {
	fmt.Fprintln(w, plaintext.Line(f.Name))
	output.PrintFacts(w, "  ", "description", f.Description, "publisher", f.Publisher, "home", f.Home,
		"maintainers", strings.Join(f.Maintainers, ", "), "tags", strings.Join(f.Tags, ", "), "at", fmt.Sprintf("%s:%d", f.Path, f.Line))
	for _, v := range f.Versions {
		fmt.Fprintf(w, "\n  version %s\n", plaintext.Line(v.Name))
		for _, one := range v.Runtimes {
			output.PrintFacts(w, "    ", one.Type, strings.TrimSpace(one.Platform+" "+one.Address))
			if one.SHA256 != "" {
				fmt.Fprintf(w, "      sha256: %s\n", one.SHA256) // in one line, for copying
			}
		}
		output.PrintFacts(w, "    ", "needs", strings.Join(v.Needs, ", "), "idempotent", v.Idempotent, "license", v.License, "usage", v.Usage,
			"examples", strings.Join(v.Examples, ", "), "maintainers", strings.Join(v.Maintainers, ", "))
		for i, field := range v.Fields {
			if i == 0 {
				fmt.Fprintln(w, "    fields:")
			}
			printField(w, field)
		}
	}
}

func printField(w io.Writer, field functions.FieldDescription) {
	text := field.Path
	if field.Type != "" {
		text += " (" + field.Type + ")"
	}
	if field.Required {
		text += ", required"
	}
	if field.Description != "" {
		text += ": " + field.Description
	}
	fmt.Fprintln(w, plaintext.Wrap(text, "      "))
}
