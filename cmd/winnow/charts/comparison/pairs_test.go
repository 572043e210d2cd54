// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
)

// version is the chart of a version, with default values and instances with their values.
func version(name, values string, instances ...string) charts.Chart {
	c := charts.Chart{Application: "web", Version: name, Mirrored: fetching.Reference{Version: name}, Defaults: charts.Use{Mirrored: []byte(values)}}
	for _, instance := range instances {
		name, values, _ := strings.Cut(instance, "=")
		c.Uses = append(c.Uses, charts.Use{Instance: name, ReleaseName: name, Mirrored: []byte(values)})
	}
	if len(c.Uses) == 0 {
		c.Uses = []charts.Use{c.Defaults}
	}
	return c
}

func TestPairs(t *testing.T) {
	moved := version("1.0.0", "")
	moved.Mirrored.URL = "elsewhere"
	for _, test := range []struct {
		name     string
		from, to []charts.Chart
		want     string
	}{
		{"nothing changes", []charts.Chart{version("1.0.0", "a"), version("2.0.0", "", "x=a")}, []charts.Chart{version("1.0.0", "a"), version("2.0.0", "", "x=a")}, ""},
		{"an instance is upgraded", []charts.Chart{version("1.0.0", "", "x=a")}, []charts.Chart{version("2.0.0", "", "x=a")}, "x 1.0.0 2.0.0"},
		{"an instance gets other values", []charts.Chart{version("1.0.0", "", "x=a")}, []charts.Chart{version("1.0.0", "", "x=b")}, "x 1.0.0 1.0.0"},
		{"an instance is new", []charts.Chart{version("1.0.0", "")}, []charts.Chart{version("1.0.0", "", "x=b")}, ""},
		{"a version is new, and compared with the one below", []charts.Chart{version("1.0.0", ""), version("1.2.0", ""), version("3.0.0", "")},
			[]charts.Chart{version("1.10.0", ""), version("1.2.0", ""), version("3.0.0", "")}, " 1.2.0 1.10.0"},
		{"the lowest version is new", []charts.Chart{version("1.0.0", "")}, []charts.Chart{version("0.9.0", ""), version("1.0.0", "")}, ""},
		{"a version without a number is new", []charts.Chart{version("1.0.0", "")}, []charts.Chart{version("next", ""), version("1.0.0", "")}, ""},
		{"a version goes down", []charts.Chart{version("2.0.0", "")}, []charts.Chart{version("1.0.0", "")}, " 2.0.0 1.0.0"},
		{"versions without numbers", []charts.Chart{version("r1", "")}, []charts.Chart{version("r2", "")}, " r1 r2"},
		{"a version has another chart", []charts.Chart{version("1.0.0", "")}, []charts.Chart{moved}, " 1.0.0 1.0.0"},
		{"default values change, of which an instance has its own", []charts.Chart{version("1.0.0", "a"), version("2.0.0", "a", "x=a")},
			[]charts.Chart{version("1.0.0", "b"), version("2.0.0", "b", "x=a")}, " 1.0.0 1.0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, p := range pairsOf(test.from, test.to) {
				got = append(got, fmt.Sprintf("%s %s %s", p.afterUse.Instance, p.before.Version, p.after.Version))
			}
			if strings.Join(got, "; ") != test.want {
				t.Errorf("pairsOf() = %q, want %q", strings.Join(got, "; "), test.want)
			}
		})
	}
}

func TestAPairThatIsNotRendered(t *testing.T) {
	missing, other := version("1.0.0", ""), version("1.0.0", "", "x=")
	missing.Missing = "it is in a Git repository"
	other.Uses[0].Namespace = "other"
	stays := version("1.0.0", "", "x=")
	for _, test := range []struct {
		p    pair
		want string
	}{
		{pair{stays, stays, stays.Uses[0], stays.Uses[0]}, ""},
		{pair{stays, missing, stays.Uses[0], stays.Uses[0]}, "it is in a Git repository"},
		{pair{missing, stays, stays.Uses[0], stays.Uses[0]}, "before: it is in a Git repository"},
		{pair{stays, other, stays.Uses[0], other.Uses[0]}, "it is another release: what runs is uninstalled, and installed anew"},
	} {
		if got := test.p.problem(); got != test.want {
			t.Errorf("problem() = %q, want %q", got, test.want)
		}
	}
}

func TestReadIgnored(t *testing.T) {
	const prefix = "annotation catalog.winnow.dev/ignore-risks of apps: "
	for _, test := range []struct{ name, annotation, want, problem string }{
		{"none", "", "map[]", ""},
		{"some, with a colon in the reason", "web charts/gone: see: ticket\n\n  db  charts/crd :x\n", "map[[db charts/crd]:x [web charts/gone]:see: ticket]", ""},
		{"a long reason", "web charts/gone: " + strings.Repeat("a", 1000), "map[[web charts/gone]:" + strings.Repeat("a", 500) + "...]", ""},
		{"all that is wrong", "web charts/gone:\nweb charts/other: x\nweb: x\n", "map[]", prefix + `"web" ignores charts/gone without a reason: write it behind a colon` + "\n" +
			`"charts/other" is no rule: want one of charts/volume-claim, charts/crd, charts/immutable, charts/gone, charts/value, charts/image` + "\n" +
			`"web: x": want APPLICATION RULE: REASON`},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := &v1alpha1.CatalogSelection{}
			cs.Name, cs.Annotations = "apps", map[string]string{v1alpha1.IgnoreRisksAnnotation: test.annotation}
			got, err := readIgnored(cs)
			problem := ""
			if err != nil {
				problem = err.Error()
			}
			if fmt.Sprint(got) != test.want || problem != test.problem {
				t.Errorf("readIgnored() = %v, %q, want %s, %q", got, problem, test.want, test.problem)
			}
		})
	}
}
