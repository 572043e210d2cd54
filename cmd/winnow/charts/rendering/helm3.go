// SPDX-License-Identifier: Apache-2.0

package rendering

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"text/template"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"sigs.k8s.io/yaml"
)

// helm3Version is what templates read as the version of Helm in KKP 2.30.
const helm3Version = "v3.20"

// undefined are the functions of Helm 4 that Helm 3 has not. Helm 3 refuses a template that has one, also where it is not called.
func undefined() template.FuncMap {
	all := template.FuncMap{}
	for _, name := range []string{"mustToToml", "mustToYaml"} {
		all[name] = func(any) (string, error) { return "", fmt.Errorf("function %q not defined", name) }
	}
	return all
}

// valuesFile matches the path of the values.yaml of a chart, and of a chart in it.
var valuesFile = regexp.MustCompile(`^(charts/[^/]+/)*values\.yaml$`)

// firstDocuments returns files with the first document alone of each values.yaml: Helm 3 reads no other.
func firstDocuments(files []*archive.BufferedFile) (all []*archive.BufferedFile) {
	for _, f := range files {
		if valuesFile.MatchString(f.Name) {
			first := map[string]any{}
			values, err := loader.LoadValues(bytes.NewReader(f.Data))
			if yaml.Unmarshal(f.Data, &first) == nil && (err != nil || !reflect.DeepEqual(first, values)) {
				one := *f
				one.Data, _ = yaml.Marshal(first)
				f = &one
			}
		}
		all = append(all, f)
	}
	return all
}

// coalesce returns the values of a chart, and of the charts in it, over which the given ones lie. A null of the chart's own stays,
// and one for a chart in it removes a default there. Helm 4 drops both.
func coalesce(c *chart.Chart, given map[string]any) (map[string]any, error) {
	about := &chart.Chart{Metadata: &chart.Metadata{Name: c.Name()}} // without values, so that Helm 4 copies, and passes globals
	values, err := util.CoalesceValues(about, given)
	if err != nil {
		return nil, err
	}
	own, err := util.CoalesceValues(about, c.Values)
	if err != nil {
		return nil, err
	}
	inIt := map[string]bool{}
	for _, sub := range c.Dependencies() {
		inIt[sub.Name()] = true
		about.AddDependency(&chart.Chart{Metadata: &chart.Metadata{Name: sub.Name()}})
	}
	for key, value := range own {
		has, ok := values[key]
		over, isMapping := has.(map[string]any)
		below, both := value.(map[string]any)
		switch {
		case !ok:
			values[key] = value
		case has == nil:
			delete(values, key)
		case isMapping && both && inIt[key]:
			util.MergeTables(over, below)
		case isMapping && both:
			util.CoalesceTables(over, below)
		}
	}
	if values, err = util.CoalesceValues(about, values); err != nil {
		return nil, err
	}
	for _, sub := range c.Dependencies() {
		below, _ := values[sub.Name()].(map[string]any)
		if values[sub.Name()], err = coalesce(sub, below); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// settleConditions removes the conditions of charts in a chart that Helm 3 finds no boolean for, where Helm 4 may find a default.
func (r Request) settleConditions(c *chart.Chart, files []*archive.BufferedFile, given map[string]any) error {
	all, err := r.load(files)
	if err != nil {
		return err
	}
	alwaysOn(all)
	if err := chartutil.ProcessDependencies(all, given); err != nil {
		return fmt.Errorf("reading the charts in it: %w", err)
	}
	values, err := coalesce(all, given)
	if err != nil {
		return err
	}
	keepConditions(c, values, "")
	return nil
}

// alwaysOn removes what turns a chart in a chart off, and what is imported from it.
func alwaysOn(c *chart.Chart) {
	for _, d := range c.Metadata.Dependencies {
		d.Condition, d.Tags, d.ImportValues = "", nil, nil
	}
	for _, sub := range c.Dependencies() {
		alwaysOn(sub)
	}
}

func keepConditions(c *chart.Chart, values common.Values, above string) {
	for _, d := range c.Metadata.Dependencies {
		var kept []string
		for path := range strings.SplitSeq(strings.TrimSpace(d.Condition), ",") {
			value, err := values.PathValue(above + path)
			if _, isBool := value.(bool); err == nil && isBool {
				kept = append(kept, path)
			}
		}
		d.Condition = strings.Join(kept, ",")
		for _, sub := range c.Dependencies() {
			if sub.Name() == d.Name {
				keepConditions(sub, values, above+cmp.Or(d.Alias, d.Name)+".")
			}
		}
	}
}
