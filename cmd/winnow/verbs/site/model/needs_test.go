// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections/revision"
	"github.com/winnow-dev/winnow/render/diff"
)

// running returns a selection of a cluster that refers to a catalog.
func running(cluster, catalog string) selections.Published {
	p := selections.Published{References: []revision.Reference{{Catalog: catalog}}}
	p.Cluster = cluster
	return p
}

// Clusters that differ are a need, also where nothing tells which of them are behind.
func TestRevisionsWithoutANewest(t *testing.T) {
	const repository = "oci://registry.example.com/catalog"
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	different := `different: oci://registry.example.com/catalog runs [{:blue [clusters/one clusters/two]} {:green [clusters/three]}]` + "\n"
	for _, test := range []struct {
		name  string
		since map[string]time.Time
		want  string
	}{
		{"no time is known", nil, different},
		{"one time is known", map[string]time.Time{repository + ":blue": at}, different},
		{"both are known", map[string]time.Time{repository + ":blue": at, repository + ":green": at.Add(time.Hour)}, "behind: clusters/one clusters/two runs :blue, not :green of " + repository + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			fleet, _ := NewFleet(Survey{
				Survey: &selections.Survey{Report: diff.New(), Published: []selections.Published{
					running("clusters/one", repository+":blue"), running("clusters/three", repository+":green"), running("clusters/two", repository+":blue"),
				}},
				Since: test.since,
			})
			if got := matrix(fleet, nil); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			if got := fleet.Count(); got != 1 {
				t.Errorf("%d needs are counted", got)
			}
		})
	}
}
