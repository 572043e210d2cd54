package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

// explainOptions are the flags of winnow explain.
type explainOptions struct {
	selectionOptions
	instance string
	output   *choice
}

func newExplainCommand() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain -f SELECTION [--source CATALOG] APPLICATION",
		Short: "Say why a selection has an application or not, rule by rule",
		Long: "Say why a selection has an application or not, rule by rule. Rules after the one\n" +
			"that decides are evaluated as well, so that all reasons are shown at once.\n" +
			"Without --source, the catalog is that of the OCIRepository in the same file, or\n" +
			"directory, as the selection.\n\n" +
			"JSON and YAML have name, source, selected, rule, reason, tier, versions (that\n" +
			"stay), dropped (versions), deprecated, the list rules with rule, outcome (pass,\n" +
			"fail or not set) and reason, and the list shadowed: later sources that have it;\n" +
			"where there are some, also merged (versions that later sources add), limited\n" +
			"(sources whose limit refuses it), and facts on versions with version, channels,\n" +
			"deprecated and requires.\n\n" +
			"With --instance NAME it says instead what an instance of the selection installs:\n" +
			"which application, why this version, the backend, the object and the release,\n" +
			"all objects with their roles, and each value with the layer that sets it. Values\n" +
			"are printed as files and catalog have them; those that valuesFrom names are not\n" +
			"read. JSON and YAML have the members of instances in winnow list, and selected\n" +
			"and applicationReason, choice (exact, range, default, none), versions and\n" +
			"candidates, objects (role, group, kind, namespace, name), values (path, value,\n" +
			"layer, over, deleted, replaceable) and valuesFrom (kind, name, valuesKey,\n" +
			"targetPath, optional, ofDefinition, winner).\n\n" +
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
				return sourceArguments()(cmd, args)
			}
			return sourceArguments("APPLICATION")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.instance != "" {
				return o.runInstance(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), notes(cmd))
			}
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), notes(cmd), args[0])
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 || o.instance != "" {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeApplications(cmd.Context(), o.sources), cobra.ShellCompDirectiveNoFileComp
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.instance, "instance", "", "`NAME` of an instance to explain")
	completeNothing(cmd, "instance")
	o.output = addFormat(cmd)
	return cmd
}

func (o *explainOptions) run(ctx context.Context, stdin io.Reader, stdout, notes io.Writer, name string) error {
	sources, options, err := o.decide(ctx, stdin, notes)
	if err != nil {
		return unusable(err)
	}
	// Decide refuses the same selections as Explain, with better messages.
	result, err := render.Decide(ctx, sources, options)
	if err != nil {
		return unusable(o.placed(err))
	}
	explained, err := selection.Explain(ctx, sources, options.Criteria, name)
	if err != nil {
		return err
	}
	if explained == nil {
		if _, ok := o.selection.Spec.Instances[name]; ok {
			return &findingError{fmt.Errorf("no source has %q, which is an instance: pass --instance %s", name, name)}
		}
		return unknownApplication(name, namesOf(result))
	}
	o.warnUnmatched(notes, render.UnmatchedOf(sources, options))
	return write(stdout, o.output.value, newExplanation(explained))
}

// explanation is the output of explain.
type explanation struct {
	document
	decisionSummary
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
	out := &explanation{document: newDocument("Explanation"), decisionSummary: summarize(e.Decision), Rules: []ruleVerdict{}, Shadowed: []string{}}
	for _, v := range e.Verdicts {
		out.Rules = append(out.Rules, ruleVerdict{Rule: v.Rule, Outcome: string(v.Outcome), Reason: v.Reason})
	}
	for _, decision := range e.Shadowed {
		out.Shadowed = append(out.Shadowed, decision.Source)
	}
	for _, decision := range e.Limited {
		out.Limited = append(out.Limited, decision.Source)
	}
	return out
}

// headline returns the decision and its reason as a sentence.
func (e *explanation) headline() string {
	if e.Selected {
		return fmt.Sprintf("%s of the source %s is in: %s", e.Name, e.Source, e.Reason)
	}
	return fmt.Sprintf("%s of the source %s is out by %s: %s", e.Name, e.Source, e.Rule, e.Reason)
}

// facts returns the lines below the rules.
func (e *explanation) facts() []string {
	var all []string
	for _, one := range []struct {
		label  string
		values []string
	}{{"versions kept", labelsOf(e.Versions, e.Facts)}, {"versions dropped", labelsOf(e.Dropped, e.Facts)}, {"shadowed in", e.Shadowed}, {"refused by the limit of", e.Limited}} {
		if len(one.values) > 0 {
			all = append(all, one.label+": "+strings.Join(one.values, ", "))
		}
	}
	if len(e.Merged) > 0 {
		all = append(all, "versions merged: "+mergedColumn(e.Merged))
	}
	if e.Deprecated != "" {
		all = append(all, "deprecated: "+e.Deprecated)
	}
	all = append(all, e.Package.lines()...)
	for _, repair := range repairLines(e.Repairs) {
		all = append(all, "repair: "+repair)
	}
	for _, f := range e.Facts {
		if e.Package != nil {
			if f.Deprecated != "" {
				all = append(all, f.Number+" is deprecated: "+f.Deprecated)
			}
			continue
		}
		all = append(all, f.Version+": "+f.words(false))
	}
	return all
}

// table prints each rule on a line and its reason on the next.
func (e *explanation) table(w io.Writer) {
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

func (e *explanation) markdown(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n", escapeMarkdown(e.headline()))
	g := grid{header: []string{"Rule", "Outcome", "Reason"}}
	for _, rule := range e.Rules {
		g.rows = append(g.rows, []string{rule.Rule, rule.Outcome, rule.Reason})
	}
	g.markdown(w)
	for i, fact := range e.facts() {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "- %s\n", escapeMarkdown(fact))
	}
}
