// SPDX-License-Identifier: Apache-2.0

package instance_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/instance"
)

// parse returns spec.instances as YAML has it.
func parse(t *testing.T, text string) map[string]v1alpha1.Instance {
	t.Helper()
	var instances map[string]v1alpha1.Instance
	if err := yaml.UnmarshalStrict([]byte(text), &instances); err != nil {
		t.Fatal(err)
	}
	return instances
}

// specs returns valid instances of the namespace apps.
func specs(t *testing.T, text string) []instance.Spec {
	t.Helper()
	all, errs := instance.New("apps", parse(t, text), field.NewPath("spec", "instances"))
	if err := errs.ToAggregate(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestInstancesAreSortedAndNamedAsTheirApplications(t *testing.T) {
	var got []string
	for _, spec := range specs(t, "{zeta: {}, alpha: {application: argocd}, mid: {version: 1.0.0}}") {
		got = append(got, spec.Name+" "+spec.Application)
	}
	if want := []string{"alpha argocd", "mid mid", "zeta zeta"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The command line has no API server that refuses these first.
func TestASpecThatIsRefused(t *testing.T) {
	many := func(format string, n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(format, i))
		}
		return strings.Join(all, ", ")
	}
	for _, test := range []struct{ name, instances, want string }{
		{"a name with a dot", "{a.b: {}}", "spec.instances[a.b]: Invalid value"},
		{"a name in upper case", "{A: {}}", "spec.instances[A]: Invalid value"},
		{"no name", `{"": {}}`, "spec.instances[]: Invalid value"},
		{"a long name", "{" + strings.Repeat("a", 64) + ": {}}", "must be no more than 63"},
		{"too many", "{" + many("i%d: {}", 257) + "}", "spec.instances: Too many: 257"},
		{"an unknown backend", "{a: {backend: helm}}", `spec.instances[a].backend: Unsupported value: "helm"`},
		{"values that are a list", "{a: {values: [1]}}", "spec.instances[a].values: Invalid value: must be a mapping"},
		{"values that are a text", "{a: {values: x}}", "spec.instances[a].values: Invalid value: must be a mapping"},
		{"a long version", "{a: {version: '" + strings.Repeat("1", 257) + "'}}", "spec.instances[a].version: Too long"},
		{"too much valuesFrom", "{a: {valuesFrom: [" + many("{kind: Secret, name: s%d}", 33) + "]}}", "spec.instances[a].valuesFrom: Too many: 33"},
		{"too many dependencies", "{a: {dependsOn: [" + many("b%d", 33) + "]}, " + many("b%d: {}", 33) + "}", "spec.instances[a].dependsOn: Too many: 33"},
		{"one that depends on itself", "{a: {dependsOn: [a]}}", `spec.instances[a].dependsOn[0]: Invalid value: "a": is the instance itself`},
		{"one that depends on none", "{a: {dependsOn: [b, c]}, b: {}}", `spec.instances[a].dependsOn[1]: Invalid value: "c": no instance of the selection has this name`},
		{"one that depends on a misspelt one", "{alerts: {dependsOn: [dashboard]}, dashboards: {}}", `spec.instances[alerts].dependsOn[0]: Invalid value: "dashboard": no instance of the selection has this name; did you mean "dashboards"?`},
		{"an interval of nothing", "{a: {interval: 0s}}", `spec.instances[a].interval: Invalid value: "0s": must be at least 1s`},
		{"an interval that keeps busy", "{a: {interval: 999ms}}", `spec.instances[a].interval: Invalid value: "999ms": must be at least 1s`},
		{"a cycle", "{a: {dependsOn: [b]}, b: {dependsOn: [c]}, c: {dependsOn: [b]}}", "spec.instances[b].dependsOn: Invalid value: instances depend on each other: b -> c -> b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, errs := instance.New("apps", parse(t, test.instances), field.NewPath("spec", "instances"))
			if err := errs.ToAggregate(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// A diamond is no cycle, and a long chain is followed once.
func TestDependenciesThatAreFine(t *testing.T) {
	specs(t, "{a: {dependsOn: [b, c]}, b: {dependsOn: [d]}, c: {dependsOn: [d]}, d: {}, e: {dependsOn: ['@system']}}")
	var chain []string
	for i := range 255 {
		chain = append(chain, fmt.Sprintf("i%03d: {dependsOn: [i%03d]}", i, i+1))
	}
	specs(t, "{"+strings.Join(append(chain, "i255: {}"), ", ")+"}")
}

func TestAVersionOfASpecIsExactOrARange(t *testing.T) {
	for version, exact := range map[string]bool{
		"1.2.3": true, "v1.2.3": true, "1.2.3-rc.1": true, "1.2.3+build": true, "0.0.0": true,
		"1.2": false, "~1.2.3": false, "1.2.3 ": false, "=1.2.3": false, "1.2.x": false, "*": false, "": false, "stable": false,
		"01.2.3": false, "1.2.3 - 1.4.0": false, "1.2.3 || 2.0.0": false, "1.2.3,<2": false,
	} {
		if got := instance.IsExact(version); got != exact {
			t.Errorf("%q: exact is %v", version, got)
		}
	}
}
