// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/backend"
)

func TestWhatSaysWhatIsInstalled(t *testing.T) {
	for _, test := range []struct{ kind, before, after, want string }{
		{"HelmRelease helm.toolkit.fluxcd.io/v2", "{chartRef: {kind: OCIRepository, name: a}}", "{chartRef: {kind: OCIRepository, name: b}}", "spec.chartRef"},
		{"HelmRelease helm.toolkit.fluxcd.io/v2", "{chart: {spec: {chart: a, version: 2.0.0}}}", "{chart: {spec: {chart: a, version: 1.0.0}}}", "spec.chart.spec.version"},
		{"HelmRelease helm.toolkit.fluxcd.io/v2", "{chart: {spec: {sourceRef: {kind: HelmRepository, name: a}}}}", "{chart: {spec: {sourceRef: {kind: HelmRepository, name: b}}}}", ""},
		{"HelmRelease helm.toolkit.fluxcd.io/v2", "{values: {a: 1}}", "{values: {a: 2}, suspend: true}", ""},
		{"OCIRepository source.toolkit.fluxcd.io/v1", "{ref: {tag: 2.0.0}}", "{ref: {tag: 2.0.0, semver: '*'}}", "spec.ref"},
		{"Terraform infra.contrib.fluxcd.io/v1alpha2", "{}", "{destroy: true}", "spec.destroy"},
		{"Terraform infra.contrib.fluxcd.io/v1alpha2", "{}", "{destroyResourcesOnDeletion: true}", "spec.destroyResourcesOnDeletion"},
		{"Subscription operators.coreos.com/v1alpha1", "{}", "{startingCSV: a.v1.0.0}", "spec.startingCSV"},
		{"ClusterExtension olm.operatorframework.io/v1", "{source: {catalog: {version: 2.0.0}}}", "{source: {catalog: {}}}", "spec.source.catalog.version"},
		{"Namespace v1", "{}", "{finalizers: []}", ""},
	} {
		object := func(spec string) backend.Object {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte("spec: "+spec), &u.Object); err != nil {
				t.Fatal(err)
			}
			kind, version, _ := strings.Cut(test.kind, " ")
			u.SetKind(kind)
			u.SetAPIVersion(version)
			return backend.Object{Unstructured: u}
		}
		if got := backend.ChosenDiffer(object(test.before), object(test.after)); got != test.want {
			t.Errorf("%s %s -> %s differs in %q, want %q", test.kind, test.before, test.after, got, test.want)
		}
	}
}
