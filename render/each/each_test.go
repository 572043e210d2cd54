// SPDX-License-Identifier: Apache-2.0

package each_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/each"
)

func TestMapKeepsTheOrder(t *testing.T) {
	for name, test := range map[string]struct {
		all  []int
		want []string
	}{
		"no slice gives none":            {nil, nil},
		"an empty slice gives none":      {[]int{}, nil},
		"each value gives one, in order": {[]int{3, 1, 2}, []string{"3", "1", "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := each.Map(test.all, strconv.Itoa); !slices.Equal(got, test.want) || (got == nil) != (test.want == nil) {
				t.Errorf("got %#v, want %#v", got, test.want)
			}
		})
	}
}

func TestWhereKeepsTheOrderAndTheInput(t *testing.T) {
	isLong := func(text string) bool { return len(text) > 1 }
	for name, test := range map[string]struct{ all, want string }{
		"no value gives none":        {"", ""},
		"no value that is kept":      {"a b", ""},
		"kept values stay in order":  {"dd a cc b", "dd cc"},
		"all values may be kept too": {"dd cc", "dd cc"},
	} {
		t.Run(name, func(t *testing.T) {
			all := strings.Fields(test.all)
			if got := strings.Join(each.Where(all, isLong), " "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := strings.Join(all, " "); got != test.all {
				t.Errorf("the input is now %q", got)
			}
		})
	}
}

func TestGroupsAreInTheOrderOfTheirFirstValues(t *testing.T) {
	groups := each.Group(strings.Fields("b1 a1 b2 c1 a2"), func(text string) byte { return text[0] })
	got := each.Map(groups, func(group []string) string { return strings.Join(group, " ") })
	if want := []string{"b1 b2", "a1 a2", "c1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := each.Group([]string(nil), strings.ToLower); got != nil {
		t.Errorf("no values give %q", got)
	}
}

func TestUnionHasEachValueOnce(t *testing.T) {
	for _, test := range []struct{ name, all, others, want string }{
		{"what is lacking follows in order", "b a", "d b c", "b a d c"},
		{"a value that is given twice", "a", "b b", "a b"},
		{"nothing is lacking", "a b", "b a", "a b"},
		{"there is nothing", "", "a", "a"},
	} {
		if got := strings.Join(each.Union(strings.Fields(test.all), strings.Fields(test.others)...), " "); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestOfSeveralValuesWithOneKeyTheLastCounts(t *testing.T) {
	byLetter := each.By(strings.Fields("b1 a1 b2"), func(text string) byte { return text[0] })
	if len(byLetter) != 2 || byLetter['a'] != "a1" || byLetter['b'] != "b2" {
		t.Errorf("got %v", byLetter)
	}
	if got := each.By([]string(nil), strings.ToLower); got == nil || len(got) > 0 {
		t.Errorf("no values give %v", got)
	}
}
