// SPDX-License-Identifier: Apache-2.0

package violation_test

import (
	"testing"

	"github.com/winnow-dev/winnow/render/catalog/violation"
)

func TestInvalidErrorListsWhatIsWrong(t *testing.T) {
	one := violation.Violation{Path: "a/application.yaml", Line: 3, Message: "is wrong"}
	other := violation.Violation{Path: "b", Message: "is missing"}
	for _, test := range []struct {
		name string
		err  violation.InvalidError
		want string
	}{
		{"one violation", violation.InvalidError{Violations: []violation.Violation{one}}, "invalid catalog: a/application.yaml:3: is wrong"},
		{
			"several violations", violation.InvalidError{Violations: []violation.Violation{one, other}},
			"invalid catalog: 2 violations: a/application.yaml:3: is wrong; b: is missing",
		},
		{
			"omitted violations", violation.InvalidError{Violations: []violation.Violation{other}, Omitted: 4},
			"invalid catalog: 5 violations: b: is missing; and 4 more",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.err.Error(); got != test.want {
				t.Errorf("Error() = %q, want %q", got, test.want)
			}
		})
	}
}
