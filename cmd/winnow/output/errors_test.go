// SPDX-License-Identifier: Apache-2.0

package output

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog/violation"
)

func TestPrintError(t *testing.T) {
	many := &violation.InvalidError{Omitted: 7}
	var lines strings.Builder
	for i := range 30 {
		many.Violations = append(many.Violations, violation.Violation{Path: "a.yaml", Line: i + 1, Message: "is wrong"})
		fmt.Fprintf(&lines, "a.yaml:%d: is wrong\n", i+1)
	}
	fields := field.ErrorList{
		field.Required(field.NewPath("spec", "sources"), "at least one"),
		field.Forbidden(field.NewPath("spec", "x"), "never"),
	}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{
			name: "an error is a line",
			err:  errors.New("no such file"),
			want: "winnow: no such file\n",
		},
		{
			name: "users and passwords of URLs are left out, though an error quotes the command line",
			err:  errors.New("no catalog at https://ci:se@c:ret@example.com/x: Get \"https://token@example.com\": see oci://h/r@sha256:0"),
			want: "winnow: no catalog at https://***@example.com/x: Get \"https://***@example.com\": see oci://h/r@sha256:0\n",
		},
		{
			name: "escape sequences do not reach the terminal, and lines stay",
			err:  errors.New("tag \x1b[31mred\r of a file\n  second line"),
			want: "winnow: tag \ufffd[31mred\ufffd of a file\n  second line\n",
		},
		{
			name: "a catalog's violations are all listed, though the error's text has only the first",
			err:  &render.Error{Code: v1alpha1.InvalidCatalogReason, Source: "./catalog", Err: many},
			want: "winnow: source ./catalog: invalid, violations: 37\n" + lines.String() + "and 7 more\n",
		},
		{
			name: "a spec's violations are listed",
			err:  fmt.Errorf("s.yaml: %w", &render.Error{Code: v1alpha1.InvalidSpecReason, Err: fields.ToAggregate()}),
			want: "winnow: s.yaml: invalid, violations: 2\n" +
				"spec.sources: Required value: at least one\n" +
				"spec.x: Forbidden: never\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			PrintError(&out, test.err)
			if got := out.String(); got != test.want {
				t.Errorf("printError() wrote\n%swant\n%s", got, test.want)
			}
		})
	}
}
