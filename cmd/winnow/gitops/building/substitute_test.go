// SPDX-License-Identifier: Apache-2.0

package building

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
)

// Variables are replaced as kustomize-controller replaces them. Random ones are in the package gitops.
func TestVariablesAreReplacedAsFluxDoes(t *testing.T) {
	object := func(name, value string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '" + name + "'}\ndata: {x: '" + value + "'}\n---\n"
	}
	one := "{postBuild: {substitute: {A: one}}}"
	tests := []struct {
		name, spec, file string
		// want is part of the objects as JSON, unknown of what is unknown of them, and fails of the error.
		want, unknown, fails string
	}{
		{"an escaped dollar without an expression", one, object("a", "1$$"), `"x":"1$"`, "", ""},
		{"an escaped dollar without postBuild", "{}", object("a", "1$$"), `"x":"1$$"`, "", ""},
		{"a variable without a value", one, object("a", "<${B}>"), `"x":"\u003c\u003e"`, "${B} has no value", ""},
		{"one with a default", one, object("a", "${B:=b}"), `"x":"b"`, "", ""},
		{"one that has an operator", one, object("a", "${A}${B^^}"), `"x":"one"`, "${B} has no value", ""},
		{"one of an optional object that is missing", "{postBuild: {substitute: {A: one}, substituteFrom: [{kind: ConfigMap, name: x, optional: true}]}}",
			object("a", "${B}"), `"x":null`, "${B} has no value", ""},
		{"an expression that panics", one, object("a", "${A:1:9223372036854775807}"), "", "", "recovered from panic"},
		{"two objects of one name", one, object("${A}", "a") + object("one", "b"), "", "", "several objects have the name one"},
		{"two objects of one name, of which nothing is replaced", "{}", object("${A}", "a") + object("one", "b"), `"name":"${A}"`, "", ""},
		{"a number that no float has", "{}", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec: {values: {id: 9007199254740993}}\n",
			`"id":9007199254740993`, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			objects, err := buildApps(t, NewBuilder(), test.spec, test.file)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("%v, want %q", err, test.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var text, unknown strings.Builder
			for _, o := range objects {
				if err := json.NewEncoder(&text).Encode(o.Object); err != nil {
					t.Fatal(err)
				}
				unknown.WriteString(strings.Join(o.Unknown, "\n"))
			}
			if !strings.Contains(text.String(), test.want) || !strings.Contains(unknown.String(), test.unknown) || (test.unknown == "") != (unknown.Len() == 0) {
				t.Errorf("%s unknown: %s\nwant %s, unknown: %s", text.String(), unknown.String(), test.want, test.unknown)
			}
		})
	}
}

// The time of some operators grows with the square of a value, and an escaped dollar copies the rest of the text.
func TestVariablesHaveTheLimitOfABuild(t *testing.T) {
	for name, file := range map[string]string{
		"a pattern": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: \"${A##*x}\"}\n",
		"escapes":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '" + strings.Repeat("$$", 1<<17) + "'}\n",
	} {
		b := NewBuilder()
		b.limit = 50 * time.Millisecond
		started := time.Now()
		_, err := buildApps(t, b, "{postBuild: {substitute: {A: '"+strings.Repeat("a", 1<<16)+"'}}}", file)
		if took := time.Since(started); !errors.Is(err, errSlow) || took > 30*time.Second {
			t.Errorf("%s ends after %s with %v, want %v", name, took, err, errSlow)
		}
	}
}

// buildApps builds a directory of one file.
func buildApps(t *testing.T, b *Builder, spec, file string) ([]manifest.Object, error) {
	t.Helper()
	tree := readTree(t, map[string]string{"apps/a.yaml": file})
	k := kustomization(t, spec)
	vars := NewVariables(k, "", func(manifest.Ref) *manifest.Object { return nil })
	return b.Build(t.Context(), inputs.NewClosure(tree, "apps", nil), "apps", k, vars)
}
