// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

const header = "Text.\n\n" + mark + "\n| versions | date | passed | what differs |\n| --- | --- | --- | --- |\n"

func TestReplace(t *testing.T) {
	const pinned, older = "| the pinned versions | 2026-01-01 | 2 of 2 | nothing |\n", "| kube-apiserver 1.34.3 | 2026-01-01 | 1 of 2 | fails: `TestA` |\n"
	passed := result{versions: []string{"kube-apiserver 1.34.4"}, date: "2026-02-02", passed: []string{"TestA", "TestB"}}
	const newer = "| kube-apiserver 1.34.4 | 2026-02-02 | 2 of 2 | nothing |\n"
	for name, test := range map[string]struct{ page, want string }{
		"the first line":                        {header + "\nMore.\n", header + newer + "\nMore.\n"},
		"another row stays":                     {header + pinned + "\nMore.\n", header + pinned + newer + "\nMore.\n"},
		"the same servers, with other patches":  {header + pinned + older + "\nMore.\n", header + pinned + newer + "\nMore.\n"},
		"the same servers above what has a row": {header + older + pinned + "\nMore.\n", header + newer + pinned + "\nMore.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := replace(test.page, passed)
			if err != nil || got != test.want {
				t.Errorf("replace() = %v\n%s, want\n%s", err, got, test.want)
			}
		})
	}
	if _, err := replace("no mark", passed); err == nil {
		t.Error("a page without the mark is written")
	}
}

func TestWhatTestsPrintIsRead(t *testing.T) {
	var r result
	r.read("=== RUN   TestA\n    --- FAIL: TestA/part (0.1s)\n--- FAIL: TestA (0.1s)\n--- PASS: TestB (1.00s)\n--- SKIP: TestC (0.00s)\n")
	if want := "| the pinned versions |  | 1 of 3 | fails: `TestA`, `TestC` (skipped) |"; r.line() != want {
		t.Errorf("line() = %s, want %s", r.line(), want)
	}
	r = result{}
	if r.read("panic"); len(r.failed) == 0 {
		t.Error("tests that never ended passed")
	}
}
