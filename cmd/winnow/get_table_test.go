package main

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
)

func TestGetCountsInstancesWhereThereAreSome(t *testing.T) {
	selection := func(wanted, installed int) *live.Selection {
		cs := &v1alpha1.CatalogSelection{}
		cs.Name = "apps"
		for i := range wanted {
			if cs.Spec.Instances == nil {
				cs.Spec.Instances = map[string]v1alpha1.Instance{}
			}
			cs.Spec.Instances[string(rune('a'+i))] = v1alpha1.Instance{}
		}
		if installed >= 0 {
			cs.Status.Summary = &v1alpha1.Summary{Instances: int32(installed)}
		}
		return &live.Selection{CatalogSelection: cs}
	}
	for _, test := range []struct {
		name  string
		found []*live.Selection
		wide  bool
		want  []string // cells of the column; nil for no column
	}{
		{"no instance", []*live.Selection{selection(0, 0), selection(0, -1)}, true, nil},
		{"some, and one that is not installed", []*live.Selection{selection(2, 2), selection(3, 2), selection(0, 0), selection(1, -1), selection(0, 1)}, true,
			[]string{"2", "2 of 3", "0", "-", "1 of 0"}},
		{"not in the table that fits a terminal", []*live.Selection{selection(2, 2)}, false, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := selectionTable(test.found, false, test.wide)
			var got []string
			for i, header := range g.header {
				if header != "INSTANCES" {
					continue
				}
				for _, row := range g.rows {
					got = append(got, row[i])
				}
			}
			if strings.Join(got, ",") != strings.Join(test.want, ",") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
