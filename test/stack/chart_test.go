// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadChart(t *testing.T) {
	dir := t.TempDir()
	description := "apiVersion: v2\nname: greeter\nversion: 1.0.0+build.7\n"
	writeFile(t, filepath.Join(dir, "Chart.yaml"), description, 0o600)
	writeFile(t, filepath.Join(dir, "templates", "greeting.yaml"), "kind: ConfigMap\n", 0o600)
	c, err := readChart(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c.name != "greeter" || c.version != "1.0.0+build.7" || c.tag() != "1.0.0_build.7" {
		t.Errorf("read %s %s with the tag %s", c.name, c.version, c.tag())
	}
	if want := `{"apiVersion":"v2","name":"greeter","version":"1.0.0+build.7"}`; string(c.config) != want {
		t.Errorf("the config is %s, want %s", c.config, want)
	}
	want := []string{"greeter/Chart.yaml 644 " + description, "greeter/templates/ 755 ", "greeter/templates/greeting.yaml 644 kind: ConfigMap\n"}
	if got := listTar(t, c.layer.gzip); !slices.Equal(got, want) {
		t.Errorf("packed %q, want %q", got, want)
	}
}

func TestReadChartNeedsNameAndVersion(t *testing.T) {
	for _, description := range []string{"name: greeter\n", "version: 1.0.0\n", "- name\n"} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "Chart.yaml"), description, 0o600)
		if c, err := readChart(dir); err == nil {
			t.Errorf("%q is read as %s %s", strings.TrimSpace(description), c.name, c.version)
		}
	}
}
