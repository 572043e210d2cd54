package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/spelling"
)

// runInstance explains the instance of --instance.
func (o *explainOptions) runInstance(ctx context.Context, stdin io.Reader, stdout, notes io.Writer) error {
	sources, options, err := o.decide(ctx, stdin, notes)
	if err != nil {
		return unusable(err)
	}
	cs := o.selection.CatalogSelection
	explained, err := render.ExplainInstance(ctx, sources, cs, o.instance)
	if errors.Is(err, render.ErrNoInstance) {
		err = fmt.Errorf("%w: %q", err, o.instance)
		if near := spelling.Nearest(o.instance, slices.Collect(maps.Keys(cs.Spec.Instances))); len(near) > 0 {
			err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
		}
		return &findingError{err}
	}
	if err != nil {
		return unusable(o.placed(err))
	}
	o.warnUnmatched(notes, render.UnmatchedOf(sources, options))
	out := newInstanceExplanation(explained, unresolvedOf(explained, o))
	var text strings.Builder
	if err := write(&text, o.output.value, out); err != nil {
		return err
	}
	_, err = io.WriteString(stdout, withoutPasswords(text.String()))
	return err
}

// unresolvedOf returns the summary of an instance that may not be installed.
func unresolvedOf(e *render.ExplainedInstance, o *explainOptions) instanceSummary {
	if e.Unresolved != nil {
		return unresolvedInstance(o.selection.CatalogSelection, *e.Unresolved)
	}
	return summarizeInstance(*e.Instance)
}

// instanceExplanation is the output of explain --instance.
type instanceExplanation struct {
	document
	instanceSummary
	// Selected is true if the application is in, and ApplicationReason says why.
	Selected          bool   `json:"selected"`
	ApplicationReason string `json:"applicationReason"`
	// Choice of the version, the Versions of the application that stay, and the Candidates among them.
	Choice     instance.Choice    `json:"choice,omitempty"`
	Versions   []string           `json:"versions"`
	Candidates []string           `json:"candidates"`
	Objects    []explainedObject  `json:"objects"`
	Values     []explainedValue   `json:"values"`
	ValuesFrom []explainedSecrets `json:"valuesFrom"`
	// Notes on what does not work everywhere.
	Notes []explainedNote `json:"notes,omitempty"`

	// layers are the names of the layers of values, the highest first.
	layers []string
	// known are the facts on the versions.
	known []versionFacts
}

type explainedNote struct {
	// Field of the instance that it is about.
	Field   string `json:"field"`
	Message string `json:"message"`
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

// explainedSecrets names values that only the cluster has.
type explainedSecrets struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	ValuesKey  string `json:"valuesKey,omitempty"`
	TargetPath string `json:"targetPath,omitempty"`
	Optional   bool   `json:"optional,omitempty"`
	// OfDefinition is true if the definition names them.
	OfDefinition bool `json:"ofDefinition,omitempty"`
	// Winner is the layer that wins over the value at TargetPath.
	Winner string `json:"winner,omitempty"`
}

func newInstanceExplanation(e *render.ExplainedInstance, summary instanceSummary) *instanceExplanation {
	out := &instanceExplanation{
		document: newDocument("InstanceExplanation"), instanceSummary: summary, Choice: e.Choice, Candidates: listed(e.Candidates),
		ApplicationReason: "no source has it", Versions: []string{}, Objects: []explainedObject{}, Values: []explainedValue{},
		ValuesFrom: []explainedSecrets{}, layers: e.Layers,
	}
	if d := e.Decision; d != nil {
		out.Selected, out.ApplicationReason, out.Versions = d.Selected, d.Reason, listed(d.Versions)
		out.known = factsOf(d.Application)
	}
	if e.Instance == nil {
		return out
	}
	for _, o := range e.Instance.Objects {
		out.Objects = append(out.Objects, explainedObject{string(o.Role), o.Key.Group, o.Key.Kind, o.Key.Namespace, o.Key.Name})
	}
	for _, n := range e.Instance.Notes {
		out.Notes = append(out.Notes, explainedNote(n))
	}
	for _, v := range e.Values {
		out.Values = append(out.Values, explainedValue{v.Text(), v.Value, v.Layer, v.Over, v.Deleted, v.Replaceable})
	}
	for _, r := range e.References {
		out.ValuesFrom = append(out.ValuesFrom, explainedSecrets{r.Kind, r.Name, r.ValuesKey, r.TargetPath, r.Optional, r.OfDefinition, r.Winner})
	}
	return out
}
