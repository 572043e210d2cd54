// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// specification returns the pages of the API.
func specification(t *testing.T) string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(root, "docs/spec/v1alpha1/*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are no pages (%v)", err)
	}
	var all strings.Builder
	for _, page := range pages {
		all.WriteString(read(t, page))
	}
	return all.String()
}

func TestEveryFieldIsDocumented(t *testing.T) {
	page, seen := specification(t), map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] || !strings.HasSuffix(typ.PkgPath(), "api/v1alpha1") {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name != "" && !regexp.MustCompile("[`.]"+name+"[`.:\\[]|(?m)^ *"+name+":").MatchString(page) {
				t.Errorf("the specification does not have %s of %s", name, typ.Name())
			}
			look(typ.Field(i).Type)
		}
	}
	look(reflect.TypeFor[v1alpha1.CatalogSelectionSpec]())
	look(reflect.TypeFor[v1alpha1.CatalogSelectionStatus]())
	if len(seen) < 20 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}

func TestEveryReasonIsDocumented(t *testing.T) {
	page := specification(t)
	reasons := regexp.MustCompile(`(?m)^(?:const )?\t?\w+Reason = "(\w+)"$`).FindAllStringSubmatch(read(t, filepath.Join(root, "api/v1alpha1/conditions.go")), -1)
	for _, reason := range reasons {
		if !strings.Contains(page, "`"+reason[1]+"`") {
			t.Errorf("the specification does not have the reason %s", reason[1])
		}
	}
	if len(reasons) < 30 {
		t.Errorf("only %d reasons were found", len(reasons))
	}
}
