// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
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
	out.LockedValues = each.Where(slices.Sorted(maps.Keys(e.Instance.Main.Locked)), func(path string) bool { return path != "" })
	out.Notes = e.Instance.Notes
	for _, v := range e.Values {
		out.Values = append(out.Values, explainedValue{v.Text(), v.Value, v.Layer, v.Over, v.Deleted, v.Replaceable})
	}
	return out
}

// headline returns what the instance installs, as a sentence.
func (e *instanceExplanation) headline() string {
	if e.Object == nil {
		return fmt.Sprintf("%s is not installed: %s", e.Name, e.Reason)
	}
	return fmt.Sprintf("%s installs %s of the source %s, with the backend %s", e.Name, strings.TrimSpace(e.Application+" "+e.Version), e.Source, e.Backend)
}

// maxCandidates bounds the versions in a sentence, and maxShown the bytes of a value.
const maxCandidates, maxShown = 10, 200

// facts returns the application, the version and the identity, each with its reason.
func (e *instanceExplanation) facts() []string {
	in := "out"
	if e.Selected {
		in = "in"
	}
	all := plaintext.Texts{fmt.Sprintf("application: %s is %s: %s", e.Application, in, e.ApplicationReason)}
	if e.Choice != "" {
		all = append(all, "version: "+e.versionReason())
	}
	if e.Object == nil {
		return all
	}
	all = append(all, "object: "+e.Object.String())
	if r := e.Release; r != nil {
		text := fmt.Sprintf("release: %s, stored in the namespace %s", r.Name, r.StorageNamespace)
		if r.TargetNamespace != "" {
			text += ", installed into the namespace " + r.TargetNamespace
		}
		if r.Chart != "" {
			text += ", of the chart " + r.Chart
		}
		all = append(all, text)
	}
	if e.Deploy != nil {
		all = append(all, "deploy: "+describeDeploy(*e.Deploy))
	}
	all.Add(len(e.LockedValues) > 0, "locked values: %s", excerpt.Names(e.LockedValues, maxCandidates))
	for _, n := range e.Notes {
		all = append(all, fmt.Sprintf("note: %s %s", n.Field, n.Message))
	}
	return all
}

// describeDeploy returns how an instance is installed and upgraded.
func describeDeploy(d backend.Deployed) string {
	var parts []string
	switch {
	case d.Wait == nil:
	case !*d.Wait:
		parts = append(parts, "does not wait until it is ready")
	case d.Timeout != "":
		parts = append(parts, "waits until it is ready, at most "+d.Timeout)
	default:
		parts = append(parts, "waits until it is ready")
	}
	switch {
	case d.Atomic == nil:
	case *d.Atomic:
		parts = append(parts, "rolls back what fails")
	default:
		parts = append(parts, "rolls nothing back")
	}
	if d.Retries != nil {
		parts = append(parts, fmt.Sprintf("%d retries", *d.Retries))
	}
	return strings.Join(parts, "; ")
}

// versionReason returns how the version comes about.
func (e *instanceExplanation) versionReason() string {
	labels := e.labels(e.Candidates)
	candidates := excerpt.Names(labels, maxCandidates)
	switch {
	case e.Choice == instance.ChoiceNone:
		return "the definition has none"
	case len(e.Candidates) == 0:
		return "none fits; the selection has " + excerpt.Names(e.labels(e.Versions), maxCandidates)
	case e.Choice == instance.ChoiceRange:
		return fmt.Sprintf("%s, the highest in the range %s, of %s", labels[0], excerpt.Of(e.Requested), candidates)
	case e.Choice == instance.ChoiceDefault && e.Backend == backend.ClusterExtension:
		return candidates + ", the highest in its channels"
	case e.Choice == instance.ChoiceDefault && e.Backend == backend.Subscription:
		return candidates + ", the head of its channel"
	case e.Choice == instance.ChoiceDefault:
		return candidates + ", the default version of the definition"
	case e.Choice == instance.ChoiceLatest:
		return candidates + ", the highest: the definition has no default version"
	}
	return candidates + ", as the spec has it"
}

// labels returns what people see of versions, which is the name of a bundle where the spec has it.
func (e *instanceExplanation) labels(versions []string) []string {
	labels := report.LabelsOf(versions, e.known)
	if i := slices.Index(versions, e.Requested); i >= 0 {
		labels[i] = e.Requested
	}
	return labels
}

// objectLines returns the objects with their roles.
func (e *instanceExplanation) objectLines() []string {
	all := each.Map(e.Objects, func(o explainedObject) string {
		return fmt.Sprintf("%-9s  %s", o.Role, report.Object{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
	})
	slices.Sort(all)
	return all
}

// referenceLines returns the values that only the cluster has.
func (e *instanceExplanation) referenceLines() []string {
	var all []string
	for _, r := range e.ValuesFrom {
		text := r.Kind + " " + r.Name
		if r.ValuesKey != "" {
			text += ", key " + r.ValuesKey
		}
		if r.OfDefinition {
			text += ", of the definition"
		}
		if r.TargetPath != "" {
			text += ": sets " + r.TargetPath
		}
		if r.Winner != "" {
			text += ", over which " + r.Winner + " wins"
		}
		all = append(all, text)
	}
	return all
}

// text returns the value with its path and the layers below.
func (v explainedValue) text() string {
	text := v.Path + ": " + shownValue(v.Value)
	if v.Deleted {
		text = v.Path + ": deleted, by null"
	}
	if len(v.Over) > 0 {
		text += " (over " + excerpt.Names(v.Over, maxCandidates) + ")"
	}
	return text
}

func shownValue(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "?"
	}
	return excerpt.To(strings.TrimSuffix(text.String(), "\n"), maxShown)
}

const referencesHeadline = "valuesFrom, which only the cluster has, and which win over default values:"

func (e *instanceExplanation) Table(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n", plaintext.Wrap(e.headline(), ""))
	for _, fact := range e.facts() {
		fmt.Fprintln(w, plaintext.Wrap(fact, ""))
	}
	printLines(w, "objects, with their roles:", e.objectLines(), plaintext.Printable)
	printLines(w, referencesHeadline, e.referenceLines(), func(line string) string { return strings.TrimSpace(plaintext.Wrap(line, "  ")) })
	for _, layer := range e.layers {
		values := each.Where(e.Values, func(v explainedValue) bool { return v.Layer == layer })
		printLines(w, "values of "+layer+":", each.Map(values, explainedValue.text), plaintext.Printable)
	}
}

// printLines prints lines, as shown has them, with a headline, if there are some.
func printLines(w io.Writer, headline string, lines []string, shown func(string) string) {
	for i, line := range lines {
		if i == 0 {
			fmt.Fprintf(w, "\n%s\n", plaintext.Wrap(headline, ""))
		}
		fmt.Fprintln(w, "  "+shown(line))
	}
}
