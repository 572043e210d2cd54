// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestPackagesArePrintedWhenTheyEnd(t *testing.T) {
	stream := `{"Action":"start","Package":"slow"}
{"Action":"start","Package":"fast"}
{"Action":"output","Package":"slow","Test":"TestA","Output":"=== RUN TestA\n"}
{"Action":"output","Package":"fast","Output":"PASS\n"}
{"Action":"output","Package":"fast","Output":"ok  \tfast\t0.1s\n"}
{"Action":"pass","Package":"fast"}
{"ImportPath":"broken","Action":"build-output","Output":"broken.go:1: undefined: x\n"}
{"Action":"output","Package":"broken","Output":"FAIL\tbroken [build failed]\n"}
{"Action":"fail","Package":"broken"}
not an event
{"Action":"output","Package":"slow","Test":"TestA","Output":"    a_test.go:1: wrong\n"}
{"Action":"output","Package":"slow","Test":"TestB","Output":"    of a test that passes\n"}
{"Action":"pass","Package":"slow","Test":"TestB"}
{"Action":"fail","Package":"slow","Test":"TestA"}
{"Action":"output","Package":"slow","Test":"TestC","Output":"panic: of a test that does not end\n"}
{"Action":"output","Package":"slow","Output":"FAIL\tslow\t9s\n"}
{"Action":"fail","Package":"slow"}
{"Action":"output","Package":"none","Output":"?   \tnone\t[no test files]\n"}
{"Action":"skip","Package":"none"}
`
	want := "ok  \tfast\t0.1s\n" +
		"broken.go:1: undefined: x\nFAIL\tbroken [build failed]\n" +
		"not an event\n" +
		"    a_test.go:1: wrong\npanic: of a test that does not end\nFAIL\tslow\t9s\n" +
		"?   \tnone\t[no test files]\n"
	var out bytes.Buffer
	if err := report(&out, strings.NewReader(stream)); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", &out, want)
	}
}

func TestTheExitCodeIsThatOfTheCommand(t *testing.T) {
	var out bytes.Buffer
	if code := run(t.Context(), &out, []string{"sh", "-c", "echo text; exit 3"}); code != 3 || out.String() != "text\n" {
		t.Errorf("it ends with %d and prints %q", code, &out)
	}
	for _, command := range [][]string{nil, {"/no/such/program"}} {
		if code := run(t.Context(), &out, command); code != 2 {
			t.Errorf("%v ends with %d, want 2", command, code)
		}
	}
}
