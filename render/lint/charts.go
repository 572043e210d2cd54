// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/lint/corpus"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

// Rules of charts. Run does not find them itself: it knows catalogs only.
const (
	// ChartFormatRule: the archive is no chart.
	ChartFormatRule = "charts/format"
	// ChartNameRule: the archive has another chart.
	ChartNameRule = "charts/name"
	// ChartNotFoundRule: the chart cannot be fetched.
	ChartNotFoundRule = "charts/not-found"
	// RemovedAPIRule: a rendered object is of an API that Kubernetes has removed.
	RemovedAPIRule = "charts/removed-api"
	// ChartRenderRule: the templates do not render.
	ChartRenderRule = "charts/render"
	// ValuesSchemaRule: a values.schema.json refuses the values.
	ValuesSchemaRule = "charts/schema"
	// UncheckedChartRule: something was not looked into.
	UncheckedChartRule = "charts/unchecked"
	// UnreadValueRule: the chart does not read a value.
	UnreadValueRule = "charts/unread-value"
	// ChartVersionRule: the archive has another version of the chart.
	ChartVersionRule = "charts/version"
)

// ChartRules returns the rules of charts, sorted by identifier.
func ChartRules() []rules.Rule {
	return []rules.Rule{
		rules.New(ChartFormatRule, rules.Error, "Helm can read the archive of a chart"),
		rules.New(ChartNameRule, rules.Error, "the archive of a chart has the chart that the version names"),
		rules.New(ChartNotFoundRule, rules.Error, "the chart of each version can be fetched"),
		rules.New(RemovedAPIRule, rules.Error, "charts render to no object of an API that Kubernetes has removed"),
		rules.New(ChartRenderRule, rules.Error, "charts render"),
		rules.New(ValuesSchemaRule, rules.Error, "values satisfy the values.schema.json of charts"),
		rules.New(UncheckedChartRule, rules.Info, "all of charts and their values can be looked into"),
		rules.New(UnreadValueRule, rules.Warning, "charts read the top-level keys of values"),
		rules.New(ChartVersionRule, rules.Warning, "the archive of a chart has the version that the catalog names"),
	}
}

// Further finds more in a catalog than its rules do, with comments that leave it out.
type Further interface {
	// Find returns what it finds in a valid catalog, with the places of its definitions.
	Find(ctx context.Context, valid *catalog.Catalog, definitions []*corpus.Definition) ([]rules.Finding, error)
}
