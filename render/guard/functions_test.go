// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
)

// functions is a source of functions of e.com, each "kind publisher runtime versions".
func functions(t *testing.T, lines ...string) guard.Source {
	t.Helper()
	text := "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nspec:\n  krmFunctions:\n"
	for _, line := range append(lines, "other us starlark v1") {
		fields := strings.Fields(line)
		runtime := map[string]string{"container": "{container: {image: a}}", "other": "{container: {image: b}}", "exec": "{exec: {platforms: [{bin: a}]}}", "starlark": "{starlark: a}"}[fields[2]]
		text += fmt.Sprintf("  - {group: e.com, kind: %s, publisher: %s, runtime: %s, versions: [", fields[0], fields[1], runtime)
		for _, version := range fields[3:] {
			text += "{name: " + version + "}, "
		}
		text += "]}\n"
	}
	loaded, err := render.LoadFS(t.Context(), "functions", fstest.MapFS{"c.yaml": {Data: []byte(text)}}, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	return guard.Source{Kind: "OCIRepository", Name: types.NamespacedName{Namespace: "flux-system", Name: "functions"}, Catalog: loaded}
}

func TestFunctionsThatAreGoneAreHeld(t *testing.T) {
	type spec = v1alpha1.CatalogSelectionSpec
	everything := func(*spec) {}
	where := func(expression string) func(*spec) {
		return func(s *spec) { s.Limit = &v1alpha1.Limit{Expression: expression} }
	}
	latest := func(s *spec) { s.Versions = []v1alpha1.VersionRule{{Latest: 1}} }
	for name, test := range map[string]struct {
		before, after func(*spec)
		then, now     []string
		want          []string
	}{
		"another runtime":            {everything, everything, []string{"A us exec v1"}, []string{"A us container v1"}, nil},
		"a function":                 {everything, everything, []string{"A us exec v1"}, nil, []string{"Removal a.e.com [v1]"}},
		"a version":                  {everything, everything, []string{"A us exec v1 v2"}, []string{"A us exec v2"}, []string{"VersionRemoval a.e.com [v1]"}},
		"a version that latest cuts": {latest, latest, []string{"A us exec v1"}, []string{"A us exec v1 v2"}, []string{"VersionRemoval a.e.com [v1]"}},
		"an alpha above":             {latest, latest, []string{"A us exec v1"}, []string{"A us exec v1 v2alpha1"}, nil},
		"an edit":                    {everything, where(`app.publisher == "us"`), []string{"A them exec v1"}, []string{"A them exec v1"}, nil},
		"an edit by publisher, while the catalog changes": {everything, where(`app.publisher == "us"`), []string{"A them exec v1", "B us exec v1"},
			[]string{"A them exec v1 v2"}, []string{"Removal b.e.com [v1]"}},
		"an edit by runtime, while the catalog changes": {everything, where(`!("exec" in app.runtime) && app.group == "e.com"`), []string{"A us exec v1", "B us container v1 v2"},
			[]string{"A us exec v1", "B us container v2"}, []string{"VersionRemoval b.e.com [v1]"}},
		"an edit of versions, while the catalog changes": {everything, latest, []string{"A us exec v1 v2", "B us exec v1"}, []string{"A us exec v2"}, []string{"Removal b.e.com [v1]"}},
		"a publisher that the catalog changes":           {where(`app.publisher == "us"`), where(`app.publisher == "us"`), []string{"A us exec v1"}, []string{"A them exec v1"}, []string{"Removal a.e.com [v1]"}},
	} {
		t.Run(name, func(t *testing.T) {
			last := readBack(t, recorded(t, edit(test.before), functions(t, test.then...)))
			written, err := json.Marshal(last.Sources)
			if err == nil {
				last.Sources = nil
				err = json.Unmarshal(written, &last.Sources)
			}
			if err != nil {
				t.Fatal(err)
			}
			now, cs := functions(t, test.now...), edit(test.after)
			var got []string
			for _, c := range guard.Decide(t.Context(), last, guard.Next{Selection: cs, Sources: []guard.Source{now}, Result: rendered(t, cs, now)}).Held {
				got = append(got, fmt.Sprintf("%s %s %v", c.Reason, c.Key.Name, c.Versions))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("held are %q, want %q", got, test.want)
			}
		})
	}
}

// A record of which the content cannot be read is one of an application that exists: no edit excuses its loss.
func TestARecordOfAFunctionMayBeUnknown(t *testing.T) {
	last := recorded(t, edit(func(*v1alpha1.CatalogSelectionSpec) {}), functions(t, "A us exec v1"))
	for i, a := range last.Sources[0].Applications {
		if a.Name == "a.e.com" {
			last.Sources[0].Applications[i].Content = json.RawMessage(`{"g": 1}`)
		}
	}
	cs, now := edit(func(s *v1alpha1.CatalogSelectionSpec) {
		s.Limit = &v1alpha1.Limit{Expression: `app.publisher == "us"`}
	}), functions(t)
	decided := guard.Decide(t.Context(), last, guard.Next{Selection: cs, Sources: []guard.Source{now}, Result: rendered(t, cs, now)})
	if len(decided.Held) == 0 {
		t.Error("an expression about what is not known excuses a loss")
	}
}

func TestAnotherImageOfAFunctionIsAChangeOfItsSource(t *testing.T) {
	held := v1alpha1.SafeguardHold
	for name, test := range map[string]struct {
		onSourceChange string
		now            []string
		want           []string
		older          bool // the record is that of an older release
	}{
		"the same":                   {held, []string{"A us container v1 v2"}, nil, false},
		"another image":              {held, []string{"A us other v1 v2"}, []string{"versions would run another image, program or script: v2, v1"}, false},
		"another image, published":   {v1alpha1.SafeguardPublish, []string{"A us other v1 v2"}, nil, false},
		"another runtime":            {held, []string{"A us exec v1 v2"}, []string{"versions would run another image, program or script: v2, v1"}, false},
		"a new version":              {held, []string{"A us container v1 v2 v3"}, nil, false},
		"another publisher":          {held, []string{"A them container v1 v2"}, nil, false},
		"another version has gone":   {held, []string{"A us container v2"}, []string{"versions would be removed: v1"}, false},
		"a record without the image": {held, []string{"A us other v1 v2"}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			cs := edit(func(s *v1alpha1.CatalogSelectionSpec) { s.Safeguards.OnSourceChange = test.onSourceChange })
			last := readBack(t, recorded(t, cs, functions(t, "A us container v1 v2")))
			if test.older {
				for i := range last.Definitions {
					last.Definitions[i].Origins = nil
				}
			}
			now := functions(t, test.now...)
			result := rendered(t, cs, now)
			decided := guard.Decide(t.Context(), last, guard.Next{Selection: cs, Sources: []guard.Source{now}, Result: result})
			var got []string
			for _, reason := range guard.Reasons(decided.Held, result.Selection) {
				got = append(got, reason.Message)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("held are %q, want %q", got, test.want)
			}
		})
	}
}
