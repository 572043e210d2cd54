// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/lint/chartrules"
)

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
