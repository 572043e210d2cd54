// SPDX-License-Identifier: Apache-2.0

package approval_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/approval"
)

// TestLines runs the cases that the policy of a spoke runs as well.
func TestLines(t *testing.T) {
	content, err := os.ReadFile("testdata/lines.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Line, Body, Meant string
		Names, Others     []string
	}
	if err := yaml.UnmarshalStrict(content, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Line, func(t *testing.T) {
			line, err := approval.Parse(c.Line)
			if malformed, ok := errors.AsType[*approval.Malformed](err); ok != (c.Body == "") {
				t.Fatalf("parsing it: %v", err)
			} else if ok {
				if malformed.Meant != c.Meant {
					t.Errorf("it is taken for %q, want %q", malformed.Meant, c.Meant)
				}
				return
			}
			if line.Body() != c.Body || line.String() != c.Line {
				t.Errorf("it is %q with the body %q, want the body %q", line, line.Body(), c.Body)
			}
			for _, one := range c.Names {
				if !line.Names(parse(t, one)) {
					t.Errorf("it does not name %s", one)
				}
			}
			for _, one := range c.Others {
				if line.Names(parse(t, one)) {
					t.Errorf("it names %s", one)
				}
			}
		})
	}
}

func parse(t *testing.T, text string) approval.Line {
	t.Helper()
	line, err := approval.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"argocd/2.13.0:live#2", "Instance/a/1:locked/b#c", "HelmRelease.x.y/a/b", "sha256:00", "argocd@1", strings.Repeat("a", 2000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line, err := approval.Parse(text)
		if malformed, ok := errors.AsType[*approval.Malformed](err); ok {
			if malformed.Meant != "" {
				if _, err := approval.Parse(malformed.Meant); err != nil {
					t.Errorf("%q is taken for %q: %v", text, malformed.Meant, err)
				}
			}
			return
		}
		again, err := approval.Parse(line.String())
		if err != nil || again != line || line.String() != text || !line.Names(again) {
			t.Errorf("%q is read as %q, and that as %q (%v)", text, line, again, err)
		}
	})
}
