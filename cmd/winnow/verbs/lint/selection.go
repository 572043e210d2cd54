// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/lint/chartrules"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/monitoring"
	"github.com/winnow-dev/winnow/render/selectionrule"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// selectionLinter lints the selection of -f, over the catalogs of --source.
type selectionLinter struct {
	*input.Options
	ignore []string
	strict bool
	// charts looks into charts; nil if it is not asked for.
	charts *chartLinter
	report *report.Lint
}

// lint adds the findings of the selection to the report. A single CATALOG is the catalog of a single source.
func (l *selectionLinter) lint(ctx context.Context, catalogs []string, stdin io.Reader, notes io.Writer) error {
	cs, inputs, err := input.PlaceSelection(ctx, l.File, l.Name, stdin)
	if err != nil {
		return err
	}
	l.report.Selections++
	l.Selection = cs
	if len(l.Sources) == 0 && len(catalogs) == 1 && len(cs.Spec.Sources) == 1 {
		l.Sources = catalogs
	}
	if l.charts != nil && len(l.Sources) == 0 {
		return fmt.Errorf("--charts: which catalog? pass %s CATALOG", flags.SourceFlag)
	}
	rendered, err := l.render(ctx, notes)
	if err != nil {
		return err
	}
	l.readersDiffer(inputs)
	beside, placed := input.Beside(ctx, cs, inputs)
	l.add(rules.Warning, append(beside.Warnings(placed, rendered.result), resultWarnings(cs.CatalogSelection, rendered.result)...)...)
	severity := rules.Warning
	if l.strict {
		severity = rules.Error
	}
	l.add(severity, beside.Misspelt(placed)...)
	if sentence := input.Unapplied(inputs); sentence != "" {
		l.add(severity, documents.Warning{Rule: selectionrule.Unbuilt, Message: sentence})
	}
	for i, entry := range l.Selection.Spec.Safeguards.Approve {
		if _, err := approval.Parse(entry); err != nil {
			field := fmt.Sprintf("spec.safeguards.approve[%d]", i)
			l.add(severity, documents.Warning{Rule: selectionrule.Unmatched, Field: field, Message: field + ": " + err.Error()})
		}
	}
	for i, sentence := range mention.Sentences(rendered.unmatched) {
		field := ""
		if i < mention.MaxAdvised {
			field = rendered.unmatched[i].Field
		}
		l.add(severity, documents.Warning{Rule: selectionrule.Unmatched, Field: field, Message: sentence})
	}
	return l.lintCharts(ctx, rendered)
}

// readersDiffer adds what readers of the objects of Winnow and Flux in files read different values of.
func (l *selectionLinter) readersDiffer(inputs []files.Input) {
	for _, file := range inputs {
		if !documents.MayBeRelevant(file.Content) {
			continue
		}
		for document, err := range yamlnode.Documents(file.Content) {
			if err != nil {
				break
			}
			objects := []*yaml.Node{document.Content[0]}
			if items := yamlnode.Lookup(objects[0], "items"); items != nil {
				objects = items.Content
			}
			for _, object := range objects {
				l.readersDifferOn(file.Name, object)
			}
		}
	}
}

func (l *selectionLinter) readersDifferOn(file string, object *yaml.Node) {
	group, _, _ := strings.Cut(yamlnode.TextAt(object, "apiVersion"), "/")
	if group != v1alpha1.GroupVersion.Group && !strings.HasSuffix(group, ".toolkit.fluxcd.io") {
		return
	}
	dialect.Differences(object, func(line int, format string, args ...any) {
		l.found(rules.Finding{Rule: selectionrule.ReadersDiffer, Severity: rules.Warning, Path: file, Line: line, Message: fmt.Sprintf(format, args...)})
	})
}

// resultWarnings returns warnings about a render; none of nil.
func resultWarnings(cs *v1alpha1.CatalogSelection, result *render.Result) []documents.Warning {
	if result == nil {
		return nil
	}
	warnings := documents.Dependencies(cs, result)
	for _, loss := range monitoring.Losses(&cs.Spec, result.Selection) {
		warnings = append(warnings, documents.Warning{Rule: selectionrule.Monitoring, Field: loss.Field, Message: loss.Message})
	}
	for _, p := range result.Patched {
		warnings = append(warnings, documents.Warning{Rule: selectionrule.Patch, Field: "spec.patches", Message: p.String()})
	}
	return warnings
}

// add adds findings about the selection, except with a rule of --ignore.
func (l *selectionLinter) add(severity rules.Severity, all ...documents.Warning) {
	for _, w := range all {
		l.found(rules.Finding{Rule: w.Rule, Severity: severity, Path: l.Selection.File(), Line: l.Selection.Line(w.Field), Message: w.Message})
	}
}

func (l *selectionLinter) found(f rules.Finding) {
	switch {
	case slices.Contains(l.ignore, f.Rule):
		l.report.Ignored++
		return
	case f.Severity == rules.Error:
		l.report.Errors++
	case f.Severity == rules.Warning:
		l.report.Warnings++
	}
	l.report.Findings = append(l.report.Findings, f)
}

// renderedSelection is the render of the selection, nil without catalogs, and the names that match nothing in them.
type renderedSelection struct {
	selection *v1alpha1.CatalogSelection
	result    *render.Result
	unmatched []mention.Unmatched
}

// render renders the selection over its catalogs.
func (l *selectionLinter) render(ctx context.Context, notes io.Writer) (renderedSelection, error) {
	if len(l.Sources) == 0 {
		missing := fmt.Sprintf("no catalog to compare names, tiers and lists with: pass %s CATALOG", flags.SourceFlag)
		if l.strict {
			l.add(rules.Error, documents.Warning{Rule: selectionrule.Unmatched, Message: missing})
		} else {
			output.PrintNote(notes, fmt.Sprintf("note: %s: %s", l.Selection.File(), missing))
		}
		return renderedSelection{}, nil
	}
	cs := l.Selection.DeepCopy()
	cs.Namespace = cmp.Or(cs.Namespace, "default")
	sources, options, err := l.Open(ctx, cs, notes)
	if err != nil {
		return renderedSelection{}, err
	}
	options.AllowEmpty = true
	result, err := render.Render(ctx, sources, options)
	if err != nil {
		return renderedSelection{}, l.Placed(err)
	}
	return renderedSelection{cs, result, mention.UnmatchedOf(sources, options.Mentions)}, nil
}

// lintCharts adds what is wrong with the charts of the selected versions, with the values of the instances.
func (l *selectionLinter) lintCharts(ctx context.Context, rendered renderedSelection) error {
	if l.charts == nil {
		return nil
	}
	looker, spec := *l.charts, rendered.selection.Spec
	looker.setBy, looker.onlyInstalled = keysOf(spec.Instances), spec.Definitions == v1alpha1.DefinitionsOmit
	if spec.Platform != nil {
		looker.platform = spec.Platform.Kubernetes
	}
	problems, err := looker.look(ctx, charts.Input{Selected: rendered.result.Selection.Applications(), Mirrored: rendered.result})
	if err != nil {
		return l.Placed(err)
	}
	for _, p := range problems {
		l.add(p.Severity, documents.Warning{Rule: p.Rule, Field: fieldOf(p), Message: subject(p) + ": " + p.Message})
	}
	return nil
}

// keysOf returns the top-level keys of the values that each instance sets.
func keysOf(instances map[string]v1alpha1.Instance) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for name, instance := range instances {
		var values map[string]any
		if instance.Values == nil || json.Unmarshal(instance.Values.Raw, &values) != nil {
			continue
		}
		all[name] = map[string]bool{}
		for key := range values {
			all[name][key] = true
		}
	}
	return all
}

// fieldOf returns the field of a selection that a problem is about.
func fieldOf(p chartrules.Problem) string {
	switch {
	case p.Instance == "":
		return ""
	case p.Key == "":
		return fmt.Sprintf("spec.instances[%s]", p.Instance)
	}
	return fmt.Sprintf("spec.instances[%s].values[%s]", p.Instance, p.Key)
}

// subject names what a problem is about.
func subject(p chartrules.Problem) string {
	text := p.Application
	if p.Version != "" {
		text += " " + p.Version
	}
	if p.Instance != "" {
		text += ", instance " + p.Instance
	}
	return text
}
