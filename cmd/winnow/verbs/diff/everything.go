// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"context"
	"fmt"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/selection"
)

// everythingName is the name of the source and of the selection in a comparison without a selection.
const everythingName = "catalog"

// compareEverything compares two catalogs by a selection of all their applications. It selects by name, as KKP's
// system applications require, and omits no field.
func (o *catalogOptions) compareEverything(ctx context.Context) (*diff.Report, error) {
	fromCatalog, toCatalog, access := o.from[0], o.to[0], &o.access
	ref := v1alpha1.SourceReference{Name: everythingName}
	older, err := input.OpenSource(ctx, fromCatalog, ref, access)
	if err != nil {
		return nil, fmt.Errorf("before: %w", err)
	}
	newer, err := input.OpenSource(ctx, toCatalog, ref, access)
	if err != nil {
		return nil, fmt.Errorf("after: %w", err)
	}
	cs := everything(ref, older, newer)
	from, err := renderEverything(ctx, cs, older)
	if err != nil {
		return nil, fmt.Errorf("before: %w", err)
	}
	to, err := renderEverything(ctx, cs, newer)
	if err != nil {
		return nil, fmt.Errorf("after: %w", err)
	}
	compared, err := comparing.Compare(ctx, from, to, nil)
	if err != nil {
		return nil, err
	}
	if err := o.addCharts(ctx, from, to, compared); err != nil {
		return nil, err
	}
	compared.ClearSelectionFields()
	comparing.AddFacts(compared, older.Catalog, newer.Catalog)
	report := diff.New(compared)
	report.From, report.To = fromCatalog, toCatalog
	return report, nil
}

// everything returns a selection of all applications of the catalogs.
func everything(ref v1alpha1.SourceReference, catalogs ...selection.Source) *v1alpha1.CatalogSelection {
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = everythingName, "default"
	cs.Spec.Sources = []v1alpha1.SourceReference{ref}
	cs.Spec.OmitFields = []string{}
	cs.Spec.Limit = &v1alpha1.Limit{}
	for _, source := range catalogs {
		for _, a := range source.Catalog.Applications {
			cs.Spec.Limit.NameSelector = append(cs.Spec.Limit.NameSelector, a.Name)
		}
	}
	return cs
}

func renderEverything(ctx context.Context, cs *v1alpha1.CatalogSelection, opened selection.Source) (*comparing.Side, error) {
	return comparing.Render(ctx, cs, []guard.Source{guard.SourceOf(cs, cs.Spec.Sources[0], opened)})
}
