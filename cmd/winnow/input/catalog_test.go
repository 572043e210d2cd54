// SPDX-License-Identifier: Apache-2.0

package input

import (
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
)

func TestAssignSources(t *testing.T) {
	tests := []struct {
		name    string
		sources []string
		args    []string
		want    []string // nil: refused
	}{
		{name: "one source needs no name", sources: []string{"a"}, args: []string{"dir"}, want: []string{"dir"}},
		{name: "one source may be named", sources: []string{"a"}, args: []string{"a=dir"}, want: []string{"dir"}},
		{name: "a path with an equals sign is no name", sources: []string{"a"}, args: []string{"x=y"}, want: []string{"x=y"}},
		{name: "several come in the spec's order", sources: []string{"a", "b"}, args: []string{"b=2", "a=1"}, want: []string{"1", "2"}},
		{name: "a name twice in the spec is one catalog", sources: []string{"a", "a"}, args: []string{"a=1"}, want: []string{"1", "1"}},
		{name: "the catalog may have an equals sign", sources: []string{"a", "b"}, args: []string{"a=x=y", "b=2"}, want: []string{"x=y", "2"}},
		{name: "several need names", sources: []string{"a", "b"}, args: []string{"1", "2"}},
		{name: "an unknown name", sources: []string{"a", "b"}, args: []string{"a=1", "c=2"}},
		{name: "a source without a catalog", sources: []string{"a", "b"}, args: []string{"a=1"}},
		{name: "a source with an empty catalog", sources: []string{"a", "b"}, args: []string{"a=1", "b="}},
		{name: "a source with two catalogs", sources: []string{"a", "b"}, args: []string{"a=1", "b=2", "a=3"}},
		{name: "two catalogs for one source", sources: []string{"a"}, args: []string{"1", "2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cs := &v1alpha1.CatalogSelection{}
			for _, name := range test.sources {
				cs.Spec.Sources = append(cs.Spec.Sources, v1alpha1.SourceReference{Name: name})
			}
			got, err := AssignSources(cs, flags.SourceFlag, test.args)
			if !slices.Equal(got, test.want) || (err == nil) != (test.want != nil) {
				t.Errorf("assignSources() = %q, %v, want %q", got, err, test.want)
			}
		})
	}
}
