// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	output := "fuzz: elapsed: 0s, gathering baseline coverage: 0/3 completed\n" +
		"fuzz: elapsed: 3s, execs: 102 (34/sec), new interesting: 1 (total: 4)\n" +
		"fuzz: elapsed: 6s, execs: 31500 (10466/sec), new interesting: 12 (total: 15)\n"
	for _, test := range []struct {
		output string
		want   result
	}{
		{"", result{}},
		{output, result{inputs: 31500, interesting: 12}},
		{output + "--- FAIL: FuzzRead (6.00s)\n    Failing input written to testdata/fuzz/FuzzRead/0123\n", result{inputs: 31500, interesting: 12, failed: true}},
		{output + "--- FAIL: FuzzRead (6.00s)\n    context deadline exceeded\n", result{inputs: 31500, interesting: 12}},
	} {
		if got := parse([]byte(test.output)); got != test.want {
			t.Errorf("parse(%q) = %+v, want %+v", test.output, got, test.want)
		}
	}
}

func TestTheTargetsOfTheRepositoryAreFound(t *testing.T) {
	targets, err := find("../..", "", "^FuzzLoad$")
	if err != nil {
		t.Fatal(err)
	}
	has := func(t target) bool { return slices.Contains(targets, t) }
	if !has(target{"../../render/archive", "FuzzRead"}) || has(target{"../../render/catalog", "FuzzLoad"}) {
		t.Errorf("found %v", targets)
	}
}
