// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

func TestLinesThatMatchNothing(t *testing.T) {
	cs := edit(func(s *v1alpha1.CatalogSelectionSpec) {
		s.Exclude, s.Instances = []string{"nginx"}, map[string]v1alpha1.Instance{"monitoring": {Application: "argocd"}}
	})
	source := withCharts(t, "argocd:1.0.0* nginx:1.0.0")
	source.Checksum = "sha256:" + strings.Repeat("a", 64)
	last := append(recorded(t, edit(noEdit), withCharts(t, "velero:1.0.0")), rendered(t, cs, source).Compared()...)
	for _, test := range []struct{ line, want string }{
		{"argocd", ""},
		{"argocd/9.9.9:live#2", ""}, // it may live
		{"nginx/*", ""},             // it is not selected
		{"velero", ""},              // it was published
		{"Instance/monitoring/1.0.0", ""},
		{"ClusterRole/any:live", ""}, // what lives is not known here
		{"sha256:" + strings.Repeat("b", 64), ""},
		{"used", ""},
		{"argcd", "no application is called argcd; argocd"},
		{"Instance/monitorin:identity", "no instance is called monitorin; monitoring"},
		{"Instance/argocd", "no instance is called argocd; "},
		{"argocd@1.0.0", `"argocd@1.0.0" names nothing: it does not begin with the name of an application, Instance/ or the kind of an object (did you mean "argocd/1.0.0"?); `},
		{source.Checksum, "the checksum of the source flux-system/catalog releases nothing: name what leaves; "},
	} {
		found := guard.UnmatchedLines([]string{"argocd", test.line}, last, rendered(t, cs, source).Selection, []guard.Source{source}, func(line string) bool { return line == "used" })
		var got []string
		for _, u := range found {
			if u.Field != "spec.safeguards.approve[1]" || u.Value != test.line {
				t.Errorf("%s: found %+v", test.line, u)
			}
			got = append(got, u.Reason+"; "+u.Nearest)
		}
		if want := slices.DeleteFunc([]string{test.want}, func(w string) bool { return w == "" }); !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", test.line, got, want)
		}
	}
}
