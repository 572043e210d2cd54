// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/diff"
)

func page(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("../../docs/diff.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestEveryFieldOfAReportIsDocumented(t *testing.T) {
	content, seen := page(t), map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		// Those of the API are documented there.
		if typ.Kind() != reflect.Struct || seen[typ] || !strings.HasSuffix(typ.PkgPath(), "render/diff") {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			tag, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			name := "`" + tag + "`"
			if tag == "" || !strings.Contains(content, name) {
				t.Errorf("docs/diff.md does not have %s of %s", name, typ.Name())
			}
			if mayBeAbsent := options == "omitempty"; mayBeAbsent && !strings.Contains(content, name+"?") {
				t.Errorf("docs/diff.md does not say that %s of %s may be absent", name, typ.Name())
			}
			look(typ.Field(i).Type)
		}
	}
	look(reflect.TypeFor[diff.Report]())
	if len(seen) < 10 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}

func TestEveryConditionIsDocumented(t *testing.T) {
	content := page(t)
	for _, condition := range diff.Conditions() {
		if !strings.Contains(content, "\n| `"+condition.Name+"` | ") {
			t.Errorf("docs/diff.md does not have the condition %s", condition.Name)
		}
	}
}
