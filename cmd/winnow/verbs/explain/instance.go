// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/explained"
	"github.com/winnow-dev/winnow/render/instance"
)

// instanceExplanation is the output of explain --instance.
type instanceExplanation struct {
	output.Document
	report.Instance
	// Selected is true if the application is in, and ApplicationReason explains why.
	Selected          bool   `json:"selected"`
	ApplicationReason string `json:"applicationReason"`
	// Choice of the version, the Versions of the application that stay, and the Candidates among them.
	Choice     instance.Choice `json:"choice,omitempty"`
	Versions   []string        `json:"versions"`
	Candidates []string        `json:"candidates"`
	// Deploy is how the instance is installed and upgraded, where its object states it.
	Deploy  *backend.Deployed `json:"deploy,omitempty"`
	Objects []explainedObject `json:"objects"`
	Values  []explainedValue  `json:"values"`
	// ValuesFrom name values that only the cluster has.
	ValuesFrom []explained.Reference `json:"valuesFrom"`
	// LockedValues are the paths of values that the application does not allow to change.
	LockedValues []string `json:"lockedValues,omitempty"`
	// Notes on what does not work everywhere.
	Notes []backend.Note `json:"notes,omitempty"`

	// layers are the names of the layers of values, the highest first.
	layers []string
	// known are the facts on the versions.
	known []report.VersionFacts
}

type explainedObject struct {
	Role      string `json:"role"`
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// explainedValue is a value with the layer that sets it.
type explainedValue struct {
	Path  string `json:"path"`
	Value any    `json:"value"`
	Layer string `json:"layer"`
	// Over are the lower layers that set it too.
	Over []string `json:"over,omitempty"`
	// Deleted is true for a null, Replaceable for a default value that valuesFrom may replace.
	Deleted     bool `json:"deleted,omitempty"`
	Replaceable bool `json:"replaceable,omitempty"`
}

func newInstanceExplanation(e *explained.Instance, summary report.Instance) *instanceExplanation {
	out := &instanceExplanation{
		Document: output.NewDocument("InstanceExplanation"), Instance: summary, Choice: e.Choice, Candidates: report.Listed(e.Candidates),
		ApplicationReason: "no source has it", Versions: []string{}, Objects: []explainedObject{}, Values: []explainedValue{},
		Deploy: e.Deployed, ValuesFrom: append([]explained.Reference{}, e.References...), layers: e.Layers,
	}
	if d := e.Decision; d != nil {
		out.Selected, out.ApplicationReason, out.Versions = d.Selected, d.Reason, report.Listed(d.Versions)
		out.known = report.FactsOf(d.Application)
	}
	if e.Instance == nil {
		return out
	}
	for _, o := range e.Instance.Objects {
		out.Objects = append(out.Objects, explainedObject{string(o.Role), o.Key.Group, o.Key.Kind, o.Key.Namespace, o.Key.Name})
	}
	for _, path := range slices.Sorted(maps.Keys(e.Instance.Main.Locked)) {
		if path != "" {
			out.LockedValues = append(out.LockedValues, path)
		}
	}
	out.Notes = e.Instance.Notes
	for _, v := range e.Values {
		out.Values = append(out.Values, explainedValue{v.Text(), v.Value, v.Layer, v.Over, v.Deleted, v.Replaceable})
	}
	return out
}
