// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

const (
	lockedKKP = `apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: cni}
spec:
  method: helm
  defaultVersion: 1.0.0
  defaultValuesBlock: "pod: {cidr: 10.0.0.0/16}"
  versions:
  - {version: 1.0.0, template: {source: {helm: {url: "oci://charts.example.org", chartName: cni, chartVersion: 1.0.0}}}}
`
	lockedCozystack = `apiVersion: cozystack.io/v1alpha1
kind: ApplicationDefinition
metadata: {name: cni}
spec:
  application: {kind: Cni, singular: cni, plural: cnis, openAPISchema: '{"type": "object"}'}
  release: {chartRef: {kind: HelmChart, name: cni}}
`
	lockedModule = `apiVersion: cozystack.io/v1alpha1
kind: ApplicationDefinition
metadata: {name: cni}
spec:
  application: {kind: Cni, singular: cni, plural: cnis, openAPISchema: '{"type": "object"}'}
  backend: {type: Terraform, terraform: {sourceRef: {kind: Bucket, name: cni}}}
`
)

// What a Secret may set is not compared, so that the value has to be set where it is.
func TestALockedValueIsKnown(t *testing.T) {
	const unread = ` may set the value "pod.cidr", which the application locks, and Winnow does not read it: set the value in values`
	for _, test := range []struct {
		name, definition, instance string
		want                       string // is in the error; empty for none
	}{
		{"no Secret", lockedKKP, "{}", ""},
		{"a Secret with any values", lockedKKP, "{valuesFrom: [{kind: Secret, name: all}]}", `spec.instances: instance cni: valuesFrom: the Secret "all"` + unread},
		{"a Secret that values win over", lockedKKP, "{valuesFrom: [{kind: Secret, name: all}], values: {pod: {cidr: a}}}", ""},
		{"a Secret with another value", lockedKKP, "{valuesFrom: [{kind: Secret, name: one, targetPath: mode, literal: true}]}", ""},
		{"a Secret with this value", lockedKKP, "{valuesFrom: [{kind: Secret, name: one, targetPath: pod.cidr}]}", `the Secret "one"` + unread},
		{"the Secret of the platform", lockedCozystack, "{backend: Helm}", `the Secret "cozystack-values"` + unread},
		{"the Secret of the platform, over which values win", lockedCozystack, "{backend: Helm, values: {pod: {cidr: a}}}", ""},
		{"a platform that reads no Secret", lockedCozystack, "{}", ""},
		{"a variable of a Secret", lockedModule, "{backend: Terraform, valuesFrom: [{kind: Secret, name: one, valuesKey: k, targetPath: pod}]}", `the Secret "one"` + unread},
		{"another variable of a Secret", lockedModule, "{backend: Terraform, valuesFrom: [{kind: Secret, name: one, valuesKey: k, targetPath: mode}]}", ""},
	} {
		for _, metadata := range []string{"lockedValues: [pod.cidr]\n", "labels: {}\n"} {
			t.Run(test.name+", "+metadata, func(t *testing.T) {
				cs := selectionOf(func(cs *v1alpha1.CatalogSelection) {
					cs.Spec.Definitions, cs.Spec.Instances = v1alpha1.DefinitionsOmit, map[string]v1alpha1.Instance{}
					if err := yaml.UnmarshalStrict([]byte("{cni: "+test.instance+"}"), &cs.Spec.Instances); err != nil {
						t.Fatal(err)
					}
				})
				result, err := renderFS(t.Context(), fstest.MapFS{
					"applications/cni/application.yaml": {Data: []byte(test.definition)}, "applications/cni/metadata.yaml": {Data: []byte("tier: gold\n" + metadata)},
				}, cs)
				locks := strings.Contains(metadata, "pod.cidr")
				if locks && test.want != "" {
					if reasonOf(err) != v1alpha1.InvalidSpecReason || !strings.Contains(err.Error(), test.want) {
						t.Errorf("the error is %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				locked := result.Instances[0].Main.Locked
				if _, has := locked["pod.cidr"]; has != locks || locked[""] == "" {
					t.Errorf("recorded is %v", locked)
				}
				for _, path := range result.Tree.Paths() {
					if content, _ := result.Tree.Content(path); slices.Contains(strings.Fields(string(content)), "lockedValues:") {
						t.Errorf("%s has the locks", path)
					}
				}
			})
		}
	}
}
