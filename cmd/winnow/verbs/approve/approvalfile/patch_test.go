// SPDX-License-Identifier: Apache-2.0

package approvalfile

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestAddPatch(t *testing.T) {
	for _, test := range []struct{ name, before, after string }{
		{"no patches", "resources:\n- ../base # all\n", "resources:\n- ../base # all\npatches:\n- path: new.yaml\n"},
		{"no end of line", "resources: [../base]", "resources: [../base]\npatches:\n- path: new.yaml"},
		{"a patch in a file", "patches:\n- path: a.yaml\nresources: [x]\n", "patches:\n- path: a.yaml\n- path: new.yaml\nresources: [x]\n"},
		{
			"a patch with text, indented", "patches:\n  # sooner\n  - target: {kind: X}\n    patch: |\n      - op: add\n        path: /x\n",
			"patches:\n  # sooner\n  - target: {kind: X}\n    patch: |\n      - op: add\n        path: /x\n  - path: new.yaml\n",
		},
		{"brackets", "patches: [{path: a.yaml}]\n", ""},
		{"braces", "{resources: [x]}\n", ""},
		{"two documents", "resources: [x]\n---\nresources: [y]\n", ""},
		{"nothing", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := AddPatch([]byte(test.before), "new.yaml")
			if string(got) != test.after || (err == nil) != (test.after != "") {
				t.Errorf("got %q, %v, want %q", got, err, test.after)
			}
		})
	}
}

func TestHasPatch(t *testing.T) {
	for content, want := range map[string]bool{
		"patches: [{path: new.yaml}]\n": true, "patches:\n- path: a.yaml\n- path: ./new.yaml\n": true, "patches:\n- path: renew.yaml\n": false,
		"patches:\n- patch: 'path: new.yaml'\n": false, "resources: [new.yaml]\n": false, "patches: new.yaml\n": false, "patches: [\n": false, "": false,
	} {
		if got := HasPatch([]byte(content), "new.yaml"); got != want {
			t.Errorf("%q: %t", content, got)
		}
	}
}

func TestNew(t *testing.T) {
	const entry = "sha256:0404040404040404040404040404040404040404040404040404040404040404"
	got, err := New(types.NamespacedName{Namespace: "fleet", Name: "apps"}, []string{entry})
	if err != nil {
		t.Fatal(err)
	}
	found, err := Find(got, types.NamespacedName{Namespace: "fleet", Name: "apps"})
	if err != nil || len(found.Approved()) != 1 || found.Approved()[0] != entry {
		t.Errorf("%s, %v", got, err)
	}
	for _, name := range []string{"a: b", "a\nspec: {}", "../a"} {
		if got, err := New(types.NamespacedName{Name: name}, []string{entry}); err == nil {
			t.Errorf("%q: %s", name, got)
		}
	}
}
