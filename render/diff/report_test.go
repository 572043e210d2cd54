// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/diff"
)

func TestTripsNamesWhatItFound(t *testing.T) {
	before, after := files{}, files{}
	for i := range 7 {
		before[fmt.Sprintf("gone-%d", i)] = versions("1.0.0")
	}
	before["a"], after["a"] = versions("1.0.0", "1.1.0=1"), versions("1.1.0=2", "2.0.0")
	cs := selectionWith(nil)
	report := diff.New(compare(t, side(t, cs, sourceOf(t, sumA, before)), side(t, cs, sourceOf(t, sumB, after))))
	var names []string
	for _, condition := range diff.Conditions() {
		names = append(names, condition.Name)
	}
	want := []string{
		"removal: gone-0, gone-1, gone-2, gone-3, gone-4 and 2 more",
		"version-removal: a 1.0.0",
		"version-change: a 1.1.0",
		"source-change: a 1.1.0",
		"major: a",
		"held: gone-0 (Removal), gone-1 (Removal), gone-2 (Removal), gone-3 (Removal), gone-4 (Removal) and 3 more",
		"any: apps",
	}
	if got := report.Trips(names); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := report.Trips([]string{"namespace", "deprecation", "unmirrored", "unknown"}); got != nil {
		t.Errorf("got %q", got)
	}
}

func TestAReportIsBoundedAndTheSameEachTime(t *testing.T) {
	long := func(value string) string {
		spec := versions("1.0.0") + "  logo: " + strings.Repeat(value, 5000) + "\n  many: {" + "\n"
		for i := range 300 {
			spec += fmt.Sprintf("    k%d: %s,\n", i, value)
		}
		spec += "  }\n  defaultValuesBlock: |\n"
		for i := range 9000 {
			spec += fmt.Sprintf("    k%d: %s\n", i, value)
		}
		return spec
	}
	cs := selectionWith(nil)
	from, to := side(t, cs, sourceOf(t, sumA, files{"a": long("x")})), side(t, cs, sourceOf(t, sumB, files{"a": long("y")}))
	report := compare(t, from, to)
	first, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) > 200_000 {
		t.Errorf("the report has %d bytes", len(first))
	}
	a := report.Applications[0]
	if a.Values.Added != 9000 || a.Values.Omitted == 0 || len(a.Fields) != 100 || a.FieldsOmitted != 201 {
		t.Errorf("added %d, omitted %d, fields %d and %d", a.Values.Added, a.Values.Omitted, len(a.Fields), a.FieldsOmitted)
	}
	second, err := json.Marshal(compare(t, from, to))
	if err != nil || string(first) != string(second) {
		t.Errorf("two reports differ: %v", err)
	}
}
