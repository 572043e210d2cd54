// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/backend/kinds"
)

// chosen returns the fields by which an object says what is installed, and whether it is to be destroyed. An instance and its
// definition decide about them, and what compares instances knows these alone.
func chosen(kind schema.GroupKind) []string {
	return map[schema.GroupKind][]string{
		kinds.ApplicationInstallation.GroupKind(): {"spec.applicationRef"},
		kinds.HelmRelease.GroupKind():             {"spec.chartRef", "spec.chart.spec.version", "spec.chart.spec.sourceRef.kind"},
		kinds.OCIRepository.GroupKind():           {"spec.ref"},
		kinds.Subscription.GroupKind():            {"spec.startingCSV"},
		kinds.ClusterExtension.GroupKind():        {"spec.source.sourceType", "spec.source.catalog.version"},
		kinds.Terraform.GroupKind():               {"spec.destroy", "spec.destroyResourcesOnDeletion"},
	}[kind]
}

// ChosenDiffer returns the first field that differs between an object and the same one as patches leave it, of those that say
// what is installed; empty for none.
func ChosenDiffer(object, patched Object) string {
	for _, field := range chosen(object.GroupVersionKind().GroupKind()) {
		path := strings.Split(field, ".")
		before, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
		after, _, _ := unstructured.NestedFieldNoCopy(patched.Object, path...)
		if !reflect.DeepEqual(before, after) {
			return field
		}
	}
	return ""
}
