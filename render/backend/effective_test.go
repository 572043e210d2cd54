// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/backend"
)

func TestTheValuesOfAnInstanceAreThoseOfItsObjects(t *testing.T) {
	configMap := func(name, values string) backend.Object {
		return backend.Object{Unstructured: &unstructured.Unstructured{Object: parse(t,
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+", namespace: apps}\ndata: {values.yaml: '"+values+"'}\n")}}
	}
	main := func(kind, spec string) backend.Object {
		version := map[string]string{"HelmRelease": "helm.toolkit.fluxcd.io/v2", "Terraform": "infra.contrib.fluxcd.io/v1alpha2", "ApplicationInstallation": "apps.kubermatic.k8c.io/v1"}
		return backend.Object{Role: backend.Main, Unstructured: &unstructured.Unstructured{Object: parse(t,
			"apiVersion: "+version[kind]+"\nkind: "+kind+"\nmetadata: {name: web, namespace: apps}\nspec: {"+spec+"}\n")}}
	}
	const defaults = "{kind: ConfigMap, name: web-defaults, valuesKey: values.yaml}"
	path := []string{"pod", "cidr"}
	for _, test := range []struct {
		name, kind, spec string
		values           string
		setter           string // the name of the reference that may set pod.cidr
	}{
		{"values alone", "HelmRelease", "values: {pod: {cidr: a}}", "{pod: {cidr: a}}", ""},
		{"values over the defaults", "HelmRelease", "valuesFrom: [" + defaults + "], values: {pod: {size: 1}}", "{pod: {cidr: default, size: 1}, mode: b}", ""},
		{"a document of values over the default", "HelmRelease", "valuesFrom: [" + defaults + ", {kind: Secret, name: all}]", "{pod: {cidr: default}, mode: b}", "all"},
		{"a document of values under those of the instance", "HelmRelease", "valuesFrom: [{kind: Secret, name: all}], values: {pod: {cidr: a}}", "{pod: {cidr: a}}", ""},
		{"a document of values under a null", "HelmRelease", "valuesFrom: [{kind: Secret, name: all}], values: {pod: null}", "{pod: null}", ""},
		{"a document of values beside those of the instance", "HelmRelease", "valuesFrom: [{kind: Secret, name: all}], values: {pod: {size: 1}}", "{pod: {size: 1}}", "all"},
		{"members under a mapping", "HelmRelease", "valuesFrom: [{kind: Secret, name: all}], values: {pod: {cidr: {a: b}}}", "{pod: {cidr: {a: b}}}", "all"},
		{"a single value elsewhere", "HelmRelease", "valuesFrom: [{kind: Secret, name: one, targetPath: pod.size, literal: true}]", "{}", ""},
		{"a single value there", "HelmRelease", "valuesFrom: [{kind: Secret, name: one, targetPath: pod.cidr, literal: true}]", "{}", "one"},
		{"a single value above", "HelmRelease", "valuesFrom: [{kind: Secret, name: one, targetPath: pod, literal: true}]", "{}", "one"},
		{"a single value below", "HelmRelease", "valuesFrom: [{kind: Secret, name: one, targetPath: 'pod.cidr[0].a', literal: true}]", "{}", "one"},
		{"a name that has a dot", "HelmRelease", `valuesFrom: [{kind: Secret, name: one, targetPath: 'pod\.cidr', literal: true}]`, "{}", ""},
		{"a name in other letters", "HelmRelease", `valuesFrom: [{kind: Secret, name: one, targetPath: 'po\d.cidr', literal: true}]`, "{}", "one"},
		{"a value with commas sets others", "HelmRelease", "valuesFrom: [{kind: Secret, name: one, targetPath: mode}]", "{}", "one"},
		{"another ConfigMap of this name", "HelmRelease", "valuesFrom: [{kind: Secret, name: web-defaults, valuesKey: values.yaml}]", "{}", "web-defaults"},
		{"another key of the defaults", "HelmRelease", "valuesFrom: [{kind: ConfigMap, name: web-defaults, valuesKey: more.yaml}]", "{}", "web-defaults"},
		{"a block", "ApplicationInstallation", "valuesBlock: 'pod: {cidr: a}'", "{pod: {cidr: a}}", ""},
		{"values in place of a block", "ApplicationInstallation", "values: {pod: {cidr: a}}", "{pod: {cidr: a}}", ""},
		{"variables", "Terraform", "vars: [{name: pod, value: {cidr: a}}], varsFrom: [{kind: Secret, name: one, varsKeys: ['k:other']}]", "{pod: {cidr: a}}", ""},
		{"a variable of a Secret, which wins", "Terraform", "vars: [{name: pod, value: {cidr: a}}], varsFrom: [{kind: Secret, name: one, varsKeys: ['k:pod']}]", "{pod: {cidr: a}}", "one"},
		{"a variable that is called as the key", "Terraform", "varsFrom: [{kind: Secret, name: one, varsKeys: [pod]}]", "{}", "one"},
		{"all keys of a Secret", "Terraform", "varsFrom: [{kind: Secret, name: all}]", "{}", "all"},
	} {
		t.Run(test.name, func(t *testing.T) {
			values, err := backend.EffectiveOf(main(test.kind, test.spec), []backend.Object{configMap("other", "no: {}"), configMap("web-defaults", "{pod: {cidr: default}, mode: b}")})
			if err != nil {
				t.Fatal(err)
			}
			want := parse(t, test.values)
			if len(values.Values) != len(want) || len(want) > 0 && !reflect.DeepEqual(values.Values, want) {
				t.Errorf("the values are %v", values.Values)
			}
			if setter, found := values.Setter(path); setter.Name != test.setter || found != (test.setter != "") {
				t.Errorf("it may be set by %q", setter.Name)
			}
		})
	}
	if _, err := backend.EffectiveOf(main("HelmRelease", "valuesFrom: ["+defaults+"]"), []backend.Object{configMap("web-defaults", "[")}); err == nil {
		t.Error("values that cannot be read are some")
	}
}
