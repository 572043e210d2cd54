// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"strings"
	"testing"
)

// What a chart of this repository makes is not evaluated: it is unknown where the chart, its values or the release differ.
func TestChartsOfThisRepositoryThatMakeSelectionsAreUnknown(t *testing.T) {
	const release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: flux-system}\nspec:\n"
	const chart = "  chart: {spec: {chart: ./charts/x, valuesFiles: [charts/more.yaml], sourceRef: {kind: GitRepository, name: fleet}}}\n"
	const definition = "apiVersion: v2\nname: x\nversion: 1.0.0\n"
	selecting := selectionOf("{{ .Values.name }}")
	plain := with(cluster(""), "more/r.yaml", release+chart, "cluster/more.yaml", pathKustomization("more"), "charts/x/Chart.yaml", definition, "charts/x/templates/s.yaml", selecting)
	deployment := with(plain, "charts/x/templates/s.yaml", "apiVersion: apps/v1\nkind: Deployment\n", "charts/x/icon.png", "\x89PNG\r\n\x1a\n\x00\x00")
	values := func(value string) string { return "  values: {name: " + value + "}\n" }
	settings := func(name, value string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: flux-system}\ndata: {values.yaml: 'name: " + value + "'}\n"
	}
	const made = "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmChart\nmetadata: {name: h, namespace: flux-system}\n" +
		"spec: {chart: charts/x, sourceRef: {kind: GitRepository, name: fleet}}\n"
	const differs, same = "cluster: the HelmRelease flux-system/r, with its chart and values, differs", "cluster: the HelmRelease flux-system/r, with its chart and values, is not evaluated"
	dependent := with(plain, "charts/x/templates/s.yaml", "a: b\n", "charts/x/Chart.yaml", definition+"dependencies: [{name: y, version: 1.0.0, repository: 'file://../y'}]\n",
		"charts/y/Chart.yaml", definition, "charts/y/templates/s.yaml", selecting)
	tests := []struct {
		name string
		base map[string]string
		head []string
		// want is part of what is unknown, or of a note; empty for neither.
		want string
	}{
		{"the values", plain, []string{"more/r.yaml", release + chart + values("a")}, differs},
		{"the template", plain, []string{"charts/x/templates/s.yaml", selecting + "spec: {}\n"}, differs},
		{"a values file", plain, []string{"charts/more.yaml", "name: b\n"}, differs},
		{"a release that goes", plain, []string{"more/r.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: r}\n"}, differs},
		{"nothing of it", plain, []string{"charts/z.yaml", "a: b\n"}, same},
		{"a chart of other objects", deployment, []string{"charts/x/templates/s.yaml", "apiVersion: apps/v1\nkind: StatefulSet\n", "more/r.yaml", release + chart + values("a")}, ""},
		{"a chart that begins to make selections", deployment, []string{"charts/x/templates/s.yaml", selecting}, differs},
		{"a source in a template", with(plain, "charts/x/templates/s.yaml", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\n"), []string{"more/r.yaml", release + chart + values("a")}, differs},
		{"a group that values compose", with(plain, "charts/x/templates/s.yaml", "apiVersion: '{{ .Values.group }}/v1alpha1'\nkind: CatalogSelection\n"), []string{"more/r.yaml", release + chart + values("a")}, differs},
		{"objects in values of another chart", with(plain, "more/r.yaml", release+"  values: {objects: [{apiVersion: catalog.winnow.dev/v1alpha1, a: b}]}\n"),
			[]string{"more/r.yaml", release + "  values: {objects: [{apiVersion: catalog.winnow.dev/v1alpha1, a: c}]}\n"}, differs},
		{"values in a ConfigMap", with(plain, "more/r.yaml", release+chart+"  valuesFrom: [{kind: ConfigMap, name: v}]\n", "more/v.yaml", settings("v", "a")),
			[]string{"more/v.yaml", settings("v", "b")}, differs},
		{"another ConfigMap", with(plain, "more/r.yaml", release+chart+"  valuesFrom: [{kind: ConfigMap, name: v}]\n", "more/v.yaml", settings("w", "a")),
			[]string{"more/v.yaml", settings("w", "b")}, same},
		{"a chart that it depends on", dependent, []string{"charts/y/templates/s.yaml", selecting + "spec: {}\n"}, differs},
		{"the chart of a HelmChart", with(plain, "more/r.yaml", release+"  chartRef: {kind: HelmChart, name: h}\n"+made), []string{"charts/x/templates/s.yaml", selecting + "spec: {}\n"}, differs},
		{"a packed chart", with(plain, "charts/x/templates/s.yaml", "a: b\n", "charts/x/charts/y.tgz", "\x1f\x8b\x08\x00a"), []string{"charts/x/charts/y.tgz", "\x1f\x8b\x08\x00b"}, differs},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			commits(t, test.base, with(nil, test.head...))
			compared := compareHead(t, Options{})
			all := strings.Join(append(compared.Unknown, compared.Notes...), "\n")
			if test.want == "" && strings.Contains(all, "HelmRelease") || !strings.Contains(all, test.want) || test.want == same && len(compared.Unknown) > 0 {
				t.Errorf("got %q, want %q", all, test.want)
			}
		})
	}
}
