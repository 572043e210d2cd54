// SPDX-License-Identifier: Apache-2.0

package diff

import "github.com/winnow-dev/winnow/render/each"

// Chart is the upgrade of a chart, rendered with the values of an instance, or with default values.
type Chart struct {
	Application string `json:"application"`
	// Instance whose values are used; empty for the default values of the application.
	Instance string `json:"instance,omitempty"`
	// From and To are the versions of the application.
	From string `json:"from"`
	To   string `json:"to"`
	// Risks are what the upgrade may break.
	Risks []Risk `json:"risks,omitempty"`
	// Schema are the changes of its values.schema.json that may refuse values.
	Schema []SchemaChange `json:"schema,omitempty"`
	// Added, Removed and Changed are numbers of objects.
	Added   int `json:"added,omitempty"`
	Removed int `json:"removed,omitempty"`
	Changed int `json:"changed,omitempty"`
	// Diff has the objects that differ; nil where none does.
	Diff *Values `json:"diff,omitempty"`
	// Problem is the reason why the upgrade could not be looked at; then there is nothing else.
	Problem string `json:"problem,omitempty"`
	// IsFinding reports whether risks may be missing: the problem is not one of default values alone, or notes say what could not
	// be looked at.
	IsFinding bool `json:"isFinding,omitempty"`
	// Notes are what could not be looked at.
	Notes []string `json:"notes,omitempty"`
}

// Name returns the name of the release, which is the name of the instance, or of the application.
func (c Chart) Name() string {
	if c.Instance != "" {
		return "instance " + c.Instance
	}
	return c.Application
}

// Open returns the risks that the selection does not ignore.
func (c Chart) Open() (open []Risk) {
	return each.Where(c.Risks, func(r Risk) bool { return r.Ignored == "" })
}

// RiskCondition is the condition on charts, which holds only where they were rendered.
const RiskCondition = "risk"
