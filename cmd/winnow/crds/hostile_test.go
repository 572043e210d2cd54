// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"slices"
	"strings"
	"testing"
)

// An alias bomb is refused before its expansion.
func TestLoadRefusesBombs(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		alias := "*" + string(c-1) + ","
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat(alias, 8) + alias[:2] + "]\n"
	}
	_, err := load(t, map[string]string{"a.yaml": bomb})
	if err == nil || !strings.HasPrefix(err.Error(), "crds/a.yaml: document 1: ") {
		t.Errorf("got %v", err)
	}
}

func TestCheckSurvivesDepth(t *testing.T) {
	const depth = 2000
	schema := strings.Repeat("type: object, properties: {a: {", depth) +
		`type: string, x-kubernetes-validations: [{rule: 'self != ""', message: must have a text}]` + strings.Repeat("}}", depth)
	object := "apiVersion: example.com/v1\nkind: X\nmetadata: {name: a}\na: " +
		strings.Repeat("{a: ", depth-1) + "''" + strings.Repeat("}", depth-1)
	want := Finding{"X/a", strings.Repeat("a.", depth-1) + "a", `Invalid value: "": must have a text`}
	if got := checkOne(t, schema, object); !slices.Equal(got, []Finding{want}) {
		t.Errorf("%d findings, not the one of the deepest field", len(got))
	}
}

// A rule has the cost budget of the API server.
func TestCostOfRules(t *testing.T) {
	schema := "type: object, x-kubernetes-validations: [{rule: 'self.l.all(a, self.l.all(b, self.l.all(c, self.l.all(d, a+b+c+d >= 0))))'}], " +
		"properties: {l: {type: array, items: {type: integer}}}"
	object := "apiVersion: example.com/v1\nkind: X\nmetadata: {name: a}\nl: [" + strings.Repeat("1,", 2000) + "1]"
	got := checkOne(t, schema, object)
	if len(got) != 1 || got[0].Field != "" || !strings.Contains(got[0].Message, "cost limit exceeded") {
		t.Errorf("got %v", got)
	}
}

func checkOne(t *testing.T, schema, object string) []Finding {
	t.Helper()
	set, err := load(t, map[string]string{"a.yaml": definitionOf(schema)})
	if err != nil {
		t.Fatal(err)
	}
	result, err := set.Check(t.Context(), []byte(object))
	if err != nil {
		t.Fatal(err)
	}
	return result.Findings
}
