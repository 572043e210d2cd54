// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatBothVariantsHaveStandsInTheTemplateOnce(t *testing.T) {
	const when = "{{- if .Values.multitenant.enabled }}\n"
	for name, test := range map[string]struct{ plain, locked, want string }{
		"the same":             {"a\nb\n", "a\nb\n", "a\nb\n"},
		"more for tenants":     {"a\nc\n", "a\nb\nc\n", "a\n" + when + "b\n{{- end }}\nc\n"},
		"less for tenants":     {"a\nb\nc\n", "a\nc\n", "a\n{{- if not .Values.multitenant.enabled }}\nb\n{{- end }}\nc\n"},
		"another for tenants":  {"a\nb\nc\n", "a\nd\nc\n", "a\n" + when + "d\n{{- else }}\nb\n{{- end }}\nc\n"},
		"a line that repeats":  {"a\na\n", "a\na\na\n", "a\na\n" + when + "a\n{{- end }}\n"},
		"only for tenants":     {"", "a\n", when + "a\n{{- end }}\n"},
		"only without tenants": {"a\n", "", "{{- if not .Values.multitenant.enabled }}\na\n{{- end }}\n"},
	} {
		if got := choose(test.plain, test.locked); got != test.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, test.want)
		}
	}
}

// What the chart replaces has to be in config: a value of the chart must not be without effect.
func TestAChangeOfConfigThatTheChartDoesNotKnowFails(t *testing.T) {
	for old, other := range map[string]string{
		"  replicas: 1\n":           "  replicas: 2\n",
		"        resources:\n":      "        resizePolicy:\n",
		"        env:\n":            "        envFrom:\n",
		"image: winnow-controller ": "image: another ",
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("../../../config")); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "manager", "deployment.yaml")
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(content), old, other, 1)
		if changed == string(content) {
			t.Fatalf("config has no %q", old)
		}
		if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := generate(dir); err == nil || !strings.Contains(err.Error(), "did config change?") {
			t.Errorf("%q: %v", old, err)
		}
	}
}
