// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
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
	return loaded(t, "functions", fstest.MapFS{"c.yaml": {Data: []byte(text)}})
}

func TestFunctionsThatAreGoneAreHeld(t *testing.T) {
	ours := func(s *v1alpha1.CatalogSelectionSpec) { s.Limit = &v1alpha1.Limit{Expression: `app.publisher == "us"`} }
	for name, test := range map[string]struct {
		before, after specEdit
		then, now     []string
		want          []string
	}{
		"another runtime":                      {noEdit, noEdit, []string{"A us exec v1"}, []string{"A us container v1"}, nil},
		"a function":                           {noEdit, noEdit, []string{"A us exec v1"}, nil, []string{"a.e.com"}},
		"a version":                            {noEdit, noEdit, []string{"A us exec v1 v2"}, []string{"A us exec v2"}, []string{"a.e.com/v1"}},
		"a version that latest cuts":           {latest, latest, []string{"A us exec v1"}, []string{"A us exec v1 v2"}, []string{"a.e.com/v1"}},
		"an alpha above":                       {latest, latest, []string{"A us exec v1"}, []string{"A us exec v1 v2alpha1"}, nil},
		"an edit":                              {noEdit, ours, []string{"A them exec v1"}, []string{"A them exec v1"}, []string{"a.e.com"}},
		"an edit, while the catalog changes":   {noEdit, latest, []string{"A us exec v1 v2", "B us exec v1"}, []string{"A us exec v2"}, []string{"b.e.com", "a.e.com/v1"}},
		"a publisher that the catalog changes": {ours, ours, []string{"A us exec v1"}, []string{"A them exec v1"}, []string{"a.e.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			verdict, _ := decided(t, recorded(t, edit(test.before), functions(t, test.then...)), edit(test.after), functions(t, test.now...))
			holds(t, verdict, test.want...)
		})
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
			last := recorded(t, cs, functions(t, "A us container v1 v2"))
			if test.older {
				for i := range last {
					last[i].Origins = nil
				}
			}
			_, reasons := decided(t, last, cs, functions(t, test.now...))
			if got := messages(reasons); !slices.Equal(got, test.want) {
				t.Errorf("held are %q, want %q", got, test.want)
			}
		})
	}
}
