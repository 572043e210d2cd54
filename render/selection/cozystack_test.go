// SPDX-License-Identifier: Apache-2.0

package selection_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
)

// cozystack is the source of the real definitions of Cozystack, which are not part of the
// repository. It skips the test where they are absent.
func cozystack(t *testing.T) selection.Source {
	t.Helper()
	directory := os.Getenv("WINNOW_TEST_DATA")
	if directory == "" {
		directory = "../../../shared/data"
	}
	files, err := filepath.Glob(filepath.Join(directory, "cozystack/applicationdefinitions/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("no real definitions in %s; WINNOW_TEST_DATA names another directory", directory)
	}
	fsys := fstest.MapFS{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fsys["applications/"+strings.TrimSuffix(filepath.Base(file), ".yaml")+"/application.yaml"] = &fstest.MapFile{Data: content}
	}
	loaded, err := catalog.Load(context.Background(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	return selection.Source{Name: "cozystack", Catalog: loaded}
}

func TestDefinitionsOfCozystackAreSelectedByTheirSpec(t *testing.T) {
	source := cozystack(t)
	for _, test := range []struct {
		name, expression, want string
	}{
		{"by kind", `app.spec.application.kind in ["Postgres", "ClickHouse"]`, "clickhouse postgres"},
		{"by category", `has(app.spec.dashboard) && app.spec.dashboard.category == "PaaS" && app.name < "d"`, "clickhouse"},
		{"by tag", `has(app.spec.dashboard.tags) && "database" in app.spec.dashboard.tags`, "postgres"},
		{"by one of several tags", `has(app.spec.dashboard.tags) && app.spec.dashboard.tags.exists(tag, tag in ["registry", "database"])`, "harbor postgres"},
		{"by group", `app.group == "cozystack.io" && app.name.startsWith("ten")`, "tenant"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := choose(t, []selection.Source{source}, selection.Criteria{
				Expression: compile(t, test.expression), Versions: []selection.VersionRule{rule(t, "|>=1|2")},
			})
			if got := names(result); got != test.want {
				t.Errorf("selected %q, want %q", got, test.want)
			}
		})
	}
}
