// SPDX-License-Identifier: Apache-2.0

package approvalfile_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/approvalfile"
)

// Whatever a file and a line have, Add refuses them, or inserts the line and keeps all other bytes.
func FuzzAdd(f *testing.F) {
	for i, spec := range []string{
		"spec:\n  exclude: [b]\n", "spec:\n  safeguards: {onRemoval: Hold}\n", "spec:\n  safeguards: {approve: ['" + second + "']} # x\n",
		"spec:\n    safeguards:\n      approve:\r\n      - " + second + "\n# x\n---\na: b\n", "spec:\n  safeguards:\n# x\n  a: |\n    b\n\n",
		"spec:\n  safeguards: {approve: [\"a:locked/\\\"\", 'a:locked/[''x'']']}\n",
	} {
		f.Add([]byte(head+spec), []string{first, "on", "db:locked/a: b", "db:locked/['x'] #y", "db:locked/{a, b}", "1e3"}[i])
	}
	f.Fuzz(func(t *testing.T, content []byte, line string) {
		found, err := approvalfile.Find(content, apps)
		if err != nil {
			return
		}
		before := found.Approved()
		edited, err := found.Add([]string{line})
		if err != nil {
			return
		}
		again, err := approvalfile.Find(edited, apps)
		if err != nil || !slices.Equal(again.Approved(), append(before, line)) {
			t.Fatalf("%q: %v: %v", edited, again, err)
		}
		kept := 0
		for kept < len(content) && content[kept] == edited[kept] {
			kept++
		}
		if rest := content[kept:]; !bytes.HasSuffix(edited, rest) && !bytes.HasSuffix(edited, bytes.TrimLeft(rest, "~nulNUL")) {
			t.Errorf("%q became %q", content, edited)
		}
	})
}
