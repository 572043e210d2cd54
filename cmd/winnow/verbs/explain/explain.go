// SPDX-License-Identifier: Apache-2.0

// Package explain is winnow explain: it shows why a selection has an application or not, and what an instance installs.
package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/explained"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/selection"
)

// explainOptions are the flags of winnow explain.
type explainOptions struct {
	input.Options
	instance string
	output   *flags.Choice
}

// Documents returns an empty document of each kind that -o json prints.
func Documents() []any {
	return []any{&explanation{Document: output.NewDocument("Explanation")}, &instanceExplanation{Document: output.NewDocument("InstanceExplanation")}}
}

// New returns winnow explain.
func New() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain -f SELECTION [--source CATALOG] APPLICATION",
		Short: "Show why a selection has an application or not, rule by rule",
		Long: "Show why a selection has an application or not, rule by rule. Rules after the\n" +
			"one that decides are evaluated as well, so that all reasons are shown at once.\n" +
			"Without --source, it reads the catalog of the OCIRepository in the file or\n" +
			"directory of the selection.\n\n" +
			"With --instance NAME it shows instead what an instance of a selection installs:\n" +
			"which application, why this version, the backend, the object and the release,\n" +
			"all objects with their roles, and each value with the layer that sets it. Values\n" +
			"are printed as files and catalog have them. It does not read what valuesFrom\n" +
			"names. docs/schemas has the members of JSON and YAML.\n\n" +
			"Exit codes: 0 whether it is in or out, 1 no source, or no instance, has it,\n" +
			"2 usage, I/O or an invalid input.",
		Example: "  winnow explain -f selection.yaml --source ./catalog argocd\n\n" +
			"  # several sources\n" +
			"  winnow explain -f selection.yaml --source base=./base --source extra=./extra \\\n" +
			"    argocd -o json\n\n" +
			"  # what an instance installs, and where its values come from\n" +
			"  winnow explain -f selection.yaml --source ./catalog --instance cert-manager",
		Args: func(cmd *cobra.Command, args []string) error {
			if o.instance != "" {
				return flags.SourceArguments()(cmd, args)
			}
			return flags.SourceArguments("APPLICATION")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.instance != "" {
				return o.runInstance(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), flags.Notes(cmd))
			}
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), flags.Notes(cmd), args[0])
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 || o.instance != "" {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return input.CompleteApplications(cmd.Context(), o.Sources), cobra.ShellCompDirectiveNoFileComp
		},
	}
	o.AddFlags(cmd)
	cmd.Flags().StringVar(&o.instance, "instance", "", "`NAME` of an instance to explain")
	flags.CompleteNothing(cmd, "instance")
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatJSON, output.FormatYAML)
	return cmd
}

func (o *explainOptions) run(ctx context.Context, stdin io.Reader, stdout, notes io.Writer, name string) error {
	sources, options, err := o.Decide(ctx, stdin, notes)
	if err != nil {
		return output.Unusable(err)
	}
	// Decide refuses the same selections as Explain, with better messages.
	result, err := render.Decide(ctx, sources, options)
	if err != nil {
		return output.Unusable(o.Placed(err))
	}
	explanation, err := selection.Explain(ctx, sources, options.Criteria, name)
	if err != nil {
		return err
	}
	if explanation == nil {
		if _, ok := o.Selection.Spec.Instances[name]; ok {
			return output.Finding(fmt.Errorf("no source has %q, which is an instance: pass --instance %s", name, name))
		}
		return report.UnknownApplication(name, report.NamesOf(result))
	}
	o.WarnUnmatched(notes, mention.UnmatchedOf(sources, options.Mentions))
	return output.Write(stdout, o.output.Value, newExplanation(explanation))
}

// explanation is the output of explain.
type explanation struct {
	output.Document
	report.Decision
	Rules    []ruleVerdict `json:"rules"`
	Shadowed []string      `json:"shadowed"`
	Limited  []string      `json:"limited,omitempty"`
}

type ruleVerdict struct {
	Rule    string `json:"rule"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
}

func newExplanation(e *selection.Explanation) *explanation {
	out := &explanation{Document: output.NewDocument("Explanation"), Decision: report.Summarize(e.Decision), Rules: []ruleVerdict{}}
	for _, v := range e.Verdicts {
		out.Rules = append(out.Rules, ruleVerdict{Rule: v.Rule, Outcome: string(v.Outcome), Reason: v.Reason})
	}
	source := func(decision selection.Decision) string { return decision.Source }
	out.Shadowed, out.Limited = report.Listed(each.Map(e.Shadowed, source)), each.Map(e.Limited, source)
	return out
}

// headline returns the decision and its reason as a sentence.
func (e *explanation) headline() string {
	if e.Selected {
		return fmt.Sprintf("%s of the source %s is in: %s", e.Name, e.Source, e.Reason)
	}
	return fmt.Sprintf("%s of the source %s is left out by %s: %s", e.Name, e.Source, e.Rule, e.Reason)
}

// facts returns the lines below the rules.
func (e *explanation) facts() []string {
	var all plaintext.Texts
	for _, one := range []struct {
		label  string
		values []string
	}{{"versions kept", report.LabelsOf(e.Versions, e.Facts)}, {"versions dropped", report.LabelsOf(e.Dropped, e.Facts)}, {"shadowed in", e.Shadowed}, {"refused by the limit of", e.Limited}} {
		all.Add(len(one.values) > 0, "%s: %s", one.label, strings.Join(one.values, ", "))
	}
	all.Add(len(e.Merged) > 0, "versions merged: %s", report.MergedColumn(e.Merged))
	all.Add(e.Deprecated != "", "deprecated: %s", e.Deprecated)
	all = append(all, e.Package.Lines()...)
	for _, repair := range report.RepairLines(e.Repairs) {
		all = append(all, "repair: "+repair)
	}
	for _, f := range e.Facts {
		if e.Package != nil {
			all.Add(f.Deprecated != "", "%s is deprecated: %s", f.Number, f.Deprecated)
			continue
		}
		all = append(all, f.Version+": "+f.Words(false))
	}
	return all
}

// Table prints each rule on a line and its reason on the next.
func (e *explanation) Table(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n", plaintext.Wrap(e.headline(), ""))
	for _, rule := range e.Rules {
		fmt.Fprintf(w, "%-7s  %s\n", rule.Outcome, rule.Rule)
		if rule.Reason != "" {
			fmt.Fprintln(w, plaintext.Wrap(rule.Reason, "         "))
		}
	}
	for i, fact := range e.facts() {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, plaintext.Wrap(fact, ""))
	}
}

// runInstance explains the instance of --instance.
func (o *explainOptions) runInstance(ctx context.Context, stdin io.Reader, stdout, notes io.Writer) error {
	sources, options, err := o.Decide(ctx, stdin, notes)
	if err != nil {
		return output.Unusable(err)
	}
	cs := o.Selection.CatalogSelection
	in, err := explained.Explain(ctx, sources, cs, o.instance)
	if errors.Is(err, explained.ErrNoInstance) {
		return report.UnknownName(fmt.Errorf("%w: %q", err, o.instance), o.instance, slices.Collect(maps.Keys(cs.Spec.Instances)))
	}
	if err != nil {
		return output.Unusable(o.Placed(err))
	}
	o.WarnUnmatched(notes, mention.UnmatchedOf(sources, options.Mentions))
	var summary report.Instance
	if in.Unresolved != nil {
		summary = report.UnresolvedInstance(cs, *in.Unresolved)
	} else {
		summary = report.SummarizeInstance(*in.Instance)
	}
	return output.WriteRedacted(stdout, o.output.Value, newInstanceExplanation(in, summary), redact.Users)
}
