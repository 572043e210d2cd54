// SPDX-License-Identifier: Apache-2.0

package rendering

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/each"
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
			if dialect.Unmarshal(f.Data, &first) == nil && (err != nil || !reflect.DeepEqual(first, values)) {
				one := *f
				one.Data, _ = yaml.Marshal(first)
				f = &one
			}
		}
		all = append(all, f)
	}
	return all
}

// engine returns what renders a chart with the order of kinds, and sets the values that its templates see. Without a client there is
// no lookup, and without EnableDNS no look-up of names.
func (r Request) engine(c *chart.Chart, given map[string]any, top common.Values) (engine.Engine, releaseutil.KindSortOrder, error) {
	if !r.IsHelm3 {
		return engine.Engine{}, releaseutil.InstallOrder, nil
	}
	merged, err := coalesced(c, given)
	top["Values"] = common.Values(merged)
	return engine.Engine{CustomTemplateFuncs: undefined()}, installOrder(), err
}

// installOrder is the order of kinds of Helm 3, to which webhooks are kinds like any other.
func installOrder() releaseutil.KindSortOrder {
	return slices.DeleteFunc(slices.Clone(releaseutil.InstallOrder), func(kind string) bool { return strings.HasSuffix(kind, "WebhookConfiguration") })
}

// coalesced returns the values of a chart, and of the charts in it, over which the given ones lie. A null of the chart's own stays,
// and one for a chart in it removes a default there. Helm 4 drops both.
func coalesced(c *chart.Chart, given map[string]any) (map[string]any, error) {
	values := runtime.DeepCopyJSON(given)
	return values, coalesce(c, values)
}

func coalesce(c *chart.Chart, values map[string]any) error {
	inIt := each.By(c.Dependencies(), (*chart.Chart).Name)
	for key, value := range runtime.DeepCopyJSON(c.Values) {
		has, ok := values[key]
		over, isMapping := has.(map[string]any)
		below, both := value.(map[string]any)
		switch {
		case !ok:
			values[key] = value
		case has == nil:
			delete(values, key)
		case isMapping && both && inIt[key] != nil:
			util.MergeTables(over, below)
		case isMapping && both:
			util.CoalesceTables(over, below)
		}
	}
	for _, sub := range c.Dependencies() {
		below, ok := within(values, sub.Name())
		if !ok {
			return fmt.Errorf("the values of %s are no mapping, but %T", sub.ChartFullPath(), values[sub.Name()])
		}
		values[sub.Name()] = below
		passGlobals(below, values)
		if err := coalesce(sub, below); err != nil {
			return err
		}
	}
	return nil
}

// within returns the mapping at a key, an empty one without the key, and not ok for another value.
func within(values map[string]any, key string) (found map[string]any, ok bool) {
	has, isSet := values[key]
	if found, ok = has.(map[string]any); found == nil {
		found = map[string]any{}
	}
	return found, ok || !isSet
}

// passGlobals adds the globals of a chart to the globals of a chart in it. As in Helm, both share mappings then, in which the chart
// in it removes nulls for both.
func passGlobals(to, from map[string]any) {
	globals, ok := within(to, common.GlobalKey)
	above, isMapping := within(from, common.GlobalKey)
	if !ok || !isMapping {
		return
	}
	for key, value := range above {
		has, ok := globals[key]
		below, isTable := has.(map[string]any)
		over, isMapping := value.(map[string]any)
		switch {
		case isMapping && (isTable || !ok):
			globals[key] = util.MergeTables(maps.Clone(over), below)
		case !isMapping && !isTable:
			globals[key] = value
		}
	}
	to[common.GlobalKey] = globals
}

// settleConditions removes the conditions of charts in a chart that Helm 3 finds no boolean for, where Helm 4 may find a default.
func (r Request) settleConditions(c *chart.Chart, files []*archive.BufferedFile, given map[string]any) error {
	if !r.IsHelm3 {
		return nil
	}
	all, err := r.load(files)
	if err != nil {
		return err
	}
	alwaysOn(all)
	if err := chartutil.ProcessDependencies(all, given); err != nil {
		return fmt.Errorf("reading the charts in it: %w", err)
	}
	values, err := coalesced(all, given)
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
