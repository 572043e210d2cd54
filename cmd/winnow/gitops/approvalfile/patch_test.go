// SPDX-License-Identifier: Apache-2.0

package approvalfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/approvalfile"
	"github.com/winnow-dev/winnow/render/yamledit"
)

func TestAddPatch(t *testing.T) {
	const item = "- target: {kind: X}\n  patch: |\n    - op: add\n      path: /x\n"
	const deeper = "  - target: {kind: X}\n    patch: |\n      - op: add\n        path: /x\n"
	for _, test := range []struct {
		name, before, after string
		line                int
	}{
		{"no patches", "resources:\n- ../base # all\n", "resources:\n- ../base # all\npatches:\n" + item, 4},
		{"no end of line", "resources: [../base]", "resources: [../base]\npatches:\n" + item, 3},
		{"a patch in a file", "patches:\n- path: a.yaml\nresources: [x]\n", "patches:\n- path: a.yaml\n" + item + "resources: [x]\n", 3},
		{
			"a patch with text, indented", "patches:\n  # sooner\n  - target: {kind: Y}\n    patch: |\n      - op: add\n        path: /x\n# end\n",
			"patches:\n  # sooner\n  - target: {kind: Y}\n    patch: |\n      - op: add\n        path: /x\n" + deeper + "# end\n", 7,
		},
		{"other line breaks", "patches:\r\n- path: a.yaml\r\n", "patches:\r\n- path: a.yaml\r\n" + strings.ReplaceAll(item, "\n", "\r\n"), 3},
		{"the same patch", "patches:\n- path: a.yaml\n" + item, "patches:\n- path: a.yaml\n" + item, 3},
		{"brackets", "patches: [{path: a.yaml}]\n", "", 0},
		{"braces", "{resources: [x]}\n", "", 0},
		{"two documents", "resources: [x]\n---\nresources: [y]\n", "", 0},
		{"nothing", "", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, line, err := approvalfile.AddPatch([]byte(test.before), item)
			if string(got) != test.after || line != test.line || (err == nil) != (test.after != "") {
				t.Errorf("line %d, %v:\n%s\nwant line %d:\n%s", line, err, got, test.line, test.after)
			}
		})
	}
	if _, _, err := approvalfile.AddPatch([]byte("resources: [x]\nsops: {mac: x}\n"), item); !errors.Is(err, yamledit.ErrEncrypted) {
		t.Errorf("encrypted: %v", err)
	}
}
