// SPDX-License-Identifier: Apache-2.0

package chartrules

import (
	"fmt"

	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

// Render is a chart, rendered for a version of Kubernetes.
type Render struct {
	Chart      charts.Rendered
	Kubernetes string
}

// Input is what is checked.
type Input struct {
	// Renders of one version of an application stand together.
	Renders []Render
	// SetBy has, by the name of an instance, the top-level keys of values that it sets itself. Its other values are shared by all
	// versions of an application.
	SetBy map[string]map[string]bool
	// HasPlatform reports whether the versions of Kubernetes are the clusters'.
	HasPlatform bool
}

// Problem is what is wrong with the chart of a version, or with its values.
type Problem struct {
	Rule     string
	Severity rules.Severity
	// Application and Version that have the chart. The version is empty for values that all versions share.
	Application, Version string
	// Instance whose values they are; empty for default values.
	Instance string
	// Key is the top-level key of the values; empty if it is about more.
	Key string
	// Message is one line.
	Message string
}

// checker checks one chart, rendered for several versions of Kubernetes.
type checker struct {
	renders     []Render
	hasPlatform bool
	found       []Problem
}

// add adds a problem, with a message that fmt.Sprintf makes.
func (c *checker) add(about Problem, rule string, severity rules.Severity, format string, args ...any) {
	about.Rule, about.Severity, about.Message = rule, severity, plaintext.Line(fmt.Sprintf(format, args...))
	c.found = append(c.found, about)
}

// advice is the end of a message on a key that resembles another one.
func advice(nearest string) string {
	if nearest == "" {
		return ""
	}
	return ": did you mean " + excerpt.Quoted(nearest) + "?"
}
