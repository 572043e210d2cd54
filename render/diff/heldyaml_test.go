// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"testing"

	"github.com/winnow-dev/winnow/render/diff"
)

func TestLinesAreShownAsYAML(t *testing.T) {
	promotion := &diff.Promotion{Annotation: "catalog.winnow.dev/approve"}
	const annotation = "metadata:\n  annotations:\n    catalog.winnow.dev/approve: "
	for _, test := range []struct {
		name  string
		lines []string
		of    *diff.Promotion
		most  int
		want  string
	}{
		{"of a selection", []string{"loki", "app:locked/a: #b", "on"}, nil, 3, "spec:\n  safeguards:\n    approve:\n    - loki\n    - 'app:locked/a: #b'\n    - \"on\"\n"},
		{"more of a selection", []string{"loki", "argocd"}, nil, 1, "spec:\n  safeguards:\n    approve:\n    - loki\n# and 1 more, which winnow approve --git adds\n"},
		{"one of a promotion", []string{"argocd/2.13.0:live#2"}, promotion, 1, annotation + "argocd/2.13.0:live#2\n"},
		{"several of a promotion", []string{"loki", "app:locked/a: #b"}, promotion, 2, annotation + "|\n      loki\n      app:locked/a: #b\n"},
		{"more of a promotion", []string{"a", "b", "c", "d"}, promotion, 2, annotation + "|\n      a\n      b\n# and 2 more, which winnow approve --git adds\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := (&diff.Held{Approve: test.lines}).YAML(test.of, test.most); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
