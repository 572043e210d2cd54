// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/selection/expression"
)

func TestCompileRefusesWithThePosition(t *testing.T) {
	for _, test := range []struct {
		name, expression string
		line, column     int
		message          string
	}{
		{"a field with a typo", `app.teir == "gold"`, 1, 4, "undefined field 'teir'"},
		{"has() of a field with a typo", `has(app.teir)`, 1, 4, "undefined field 'teir'"},
		{"a typo in another line", "app.tier == 'gold' &&\n  app.name == nam", 2, 15, "undeclared reference to 'nam'"},
		{"several typos", "app.a == 'x' ||\napp.b == 'y'", 1, 4, "undefined field 'a'; line 2, column 4: undefined field 'b'"},
		{"another variable", `application.name == ""`, 1, 1, "undeclared reference"},
		{"a syntax error", `app.tier ==`, 1, 12, "Syntax error"},
		{"nothing", ``, 1, 1, "Syntax error"},
		{"types that do not compare", `app.tier == 1`, 1, 10, "no matching overload"},
		{"a version compared to a string", `semver("1.0.0") < "2.0.0"`, 1, 17, "no matching overload"},
		{"a field of a version", `semver("1.0.0").major == 1`, 1, 16, "undefined field 'major'"},
		{"a loop through a map without order", `true && {"b": 1, "a": 2}.map(k, k)[0] == "a"`, 1, 9, "has no order"},
		{"a loop through such a map in a list", `[{"b": 1, "a": 2}].exists(m, m.map(k, k)[0] == "a")`, 1, 2, "has no order"},
		{"a loop through such a map of another loop", `app.versions.map(v, {v: 1, "a": 2}).exists(m, m.map(k, k)[0] == "a")`, 1, 21, "has no order"},
		{"a string", `app.tier`, 1, 1, "must be true or false, but is of the type string"},
		{"what may be anything", `app.spec.enabled`, 1, 1, "must be true or false, but is of the type dyn"},
		{"a clock", `now() > timestamp("2020-01-01T00:00:00Z")`, 1, 4, "undeclared reference to 'now'"},
		{"replace", `app.name.replace("a", "aa") == ""`, 1, 17, "undeclared reference to 'replace'"},
		{"format", `"%s".format([app.name]) == ""`, 1, 12, "undeclared reference to 'format'"},
		{"join", `app.versions.join(",") == ""`, 1, 18, "undeclared reference to 'join'"},
		{"indexOf", `app.name.indexOf("a") == 1`, 1, 17, "undeclared reference to 'indexOf'"},
		{"lastIndexOf", `app.name.lastIndexOf("a") == 1`, 1, 21, "undeclared reference to 'lastIndexOf'"},
		{"an application that the expression makes", `application{name: "x"} == app`, 1, 12, "undeclared reference to 'application'"},
		{"a regular expression that is none", `app.name.matches("(")`, 0, 0, "missing closing )"},
		{"a regular expression of the catalog", `app.name.matches(app.tier)`, 1, 21, "must be written out, in quotes"},
		{"a computed one, as an argument", `matches(app.name, "a" + app.tier)`, 1, 23, "must be written out, in quotes"},
		{"too many bytes", strings.Repeat(" ", 4093) + "true", 0, 0, "is longer than 4096 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := expression.Compile(test.expression)
			var invalid *expression.Error
			if !errors.As(err, &invalid) {
				t.Fatalf("Compile() = %v, want an Error", err)
			}
			if invalid.Line != test.line || invalid.Column != test.column || !strings.Contains(invalid.Message, test.message) {
				t.Errorf("Compile() = %d:%d: %s, want %d:%d: ... %s ...",
					invalid.Line, invalid.Column, invalid.Message, test.line, test.column, test.message)
			}
		})
	}
}
