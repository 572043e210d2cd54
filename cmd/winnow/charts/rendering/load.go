// SPDX-License-Identifier: Apache-2.0

package rendering

import (
	"cmp"
	"fmt"
	"slices"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// load returns the chart of files. Helm 3 knows no formats of charts.
func (r Request) load(files []*archive.BufferedFile) (*chart.Chart, error) {
	c, err := loader.LoadFiles(files)
	if err != nil {
		return nil, err
	}
	sortDependencies(c)
	if !r.IsHelm3 && c.Metadata.APIVersion != chart.APIVersionV1 && c.Metadata.APIVersion != chart.APIVersionV2 {
		return nil, fmt.Errorf("its apiVersion is %q, want v1 or v2", c.Metadata.APIVersion)
	}
	return c, nil
}

// sortDependencies sorts the charts in a chart, which Helm reads out of a map. Charts that Chart.yaml lists are in its order later,
// in which they change the globals that they share.
func sortDependencies(c *chart.Chart) {
	sorted := slices.SortedFunc(slices.Values(c.Dependencies()), func(a, b *chart.Chart) int { return cmp.Compare(a.Name(), b.Name()) })
	c.SetDependencies(sorted...)
	for _, sub := range sorted {
		sortDependencies(sub)
	}
}
