// SPDX-License-Identifier: Apache-2.0

package spdx

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

var created = time.Unix(1700000000, 0)

// subject is this test, on two platforms, of which one has a module that is replaced.
func subject(t *testing.T) Subject {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	build, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := *build
	other.Deps = append([]*debug.Module{{Path: "example.com/a", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/b_c", Version: "v1.0.1+incompatible"}}}, build.Deps...)
	return Subject{Name: "winnow", Version: "v1.0.0", SHA256: strings.Repeat("a", 64), Purpose: "CONTAINER", Programs: []Program{
		{"winnow", "linux/amd64", strings.Repeat("b", 64), build},
		{"winnow", "linux/arm64", strings.Repeat("c", 64), &other},
	}}
}

func TestEachElementIsThereOnce(t *testing.T) {
	text, err := Document(subject(t), created)
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	valid, ids, names := regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`), map[string]bool{d.ID: true}, map[string]bool{}
	for _, p := range d.Packages {
		if ids[p.ID] || !valid.MatchString(p.ID) {
			t.Errorf("the identifier %q is not valid, or there twice", p.ID)
		}
		ids[p.ID], names[p.Name+"@"+p.Version] = true, true
	}
	for _, r := range d.Relationships {
		if !ids[r.Element] || !ids[r.Related] {
			t.Errorf("%v has an element that is not there", r)
		}
	}
	for _, want := range []string{"winnow@v1.0.0", "winnow linux/amd64@v1.0.0", "winnow linux/arm64@v1.0.0", "example.com/b_c@v1.0.1+incompatible"} {
		if !names[want] {
			t.Errorf("%s is missing in %v", want, names)
		}
	}
	if names["example.com/a@v1.0.0"] {
		t.Error("the module that is replaced is not linked")
	}
}

func TestTheSameSubjectGivesTheSameBytes(t *testing.T) {
	one, err := Document(subject(t), created)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Document(subject(t), created)
	if err != nil || string(one) != string(other) {
		t.Errorf("%v\n%s\n%s", err, one, other)
	}
}
