// SPDX-License-Identifier: Apache-2.0

// Package readiness reads the state of an instance from its live main object: for each kind, one condition. It must not
// know how the object is found, nor who may read it. It returns texts of the object in full, neither cut nor redacted.
package readiness

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend/kinds"
)

// report is where the objects of a kind report their state.
type report struct {
	// condition is the type of the only condition that is read.
	condition string
	// failures are types of conditions that report a failure while they are True. A Subscription of OLM v0 has these
	// instead of a condition for readiness.
	failures []string
	// installs is true for a kind whose objects report the installation only, and not whether the software runs. Such
	// an object is never ready.
	installs bool
	// revision returns what is installed.
	revision func(object map[string]any) string
}

// ready is the condition of most kinds.
const ready = "Ready"

// reportOf returns where the objects of a kind report their state. Kinds that are not listed are Cozystack's.
func reportOf(kind schema.GroupKind) report {
	switch kind {
	case kinds.HelmRelease.GroupKind():
		return report{condition: ready, revision: deployedChart}
	case kinds.Terraform.GroupKind():
		return report{condition: ready, revision: text("status", "lastAppliedRevision")}
	case kinds.ApplicationInstallation.GroupKind():
		return report{condition: ready, revision: text("status", "applicationVersion", "version")}
	case kinds.ClusterExtension.GroupKind():
		return report{condition: "Installed", installs: true, revision: text("status", "install", "bundle", "version")}
	case kinds.Subscription.GroupKind():
		return report{
			failures: []string{"InstallPlanFailed", "BundleUnpackFailed", "ResolutionFailed"},
			installs: true, revision: text("status", "installedCSV"),
		}
	}
	return report{condition: ready, revision: text("status", "version")}
}

// Of returns the state that a live main object reports.
func Of(object *unstructured.Unstructured) v1alpha1.InstanceState {
	kind := object.GroupVersionKind().GroupKind()
	r := reportOf(kind)
	state := r.state(object)
	state.LastAppliedRevision = r.revision(object.Object)
	if kind == kinds.Terraform.GroupKind() {
		state.Outputs, state.PendingPlan = outputsOf(object.Object), text("status", "plan", "pending")(object.Object)
	}
	return state
}

func (r report) state(object *unstructured.Unstructured) v1alpha1.InstanceState {
	unknown := func(message string) v1alpha1.InstanceState {
		return v1alpha1.InstanceState{Ready: metav1.ConditionUnknown, Message: message}
	}
	if object.GetDeletionTimestamp() != nil {
		return unknown("is being deleted")
	}
	found := conditionsOf(object.Object)
	for _, failure := range r.failures {
		if c := found[failure]; c.status == metav1.ConditionTrue {
			return v1alpha1.InstanceState{Ready: metav1.ConditionFalse, Message: c.text()}
		}
	}
	c, exists := found[r.condition]
	switch {
	case r.condition == "" && r.revision(object.Object) != "":
		c = condition{status: metav1.ConditionTrue, message: r.revision(object.Object)}
	case !exists:
		return unknown("not yet observed")
	case isOlder(cmp.Or(c.observed, observedGeneration(object.Object)), object.GetGeneration()):
		return unknown(fmt.Sprintf("generation %d is not yet observed", object.GetGeneration()))
	case c.status != metav1.ConditionTrue && c.status != metav1.ConditionFalse:
		return unknown(c.text())
	}
	if r.installs && c.status == metav1.ConditionTrue {
		return unknown("installed: " + c.text())
	}
	return v1alpha1.InstanceState{Ready: c.status, Message: c.text()}
}

// isOlder reports whether the observed generation is known and older than the generation of the object. Some
// controllers never write it.
func isOlder(observed, generation int64) bool { return observed != 0 && observed < generation }

func observedGeneration(object map[string]any) int64 {
	observed, _, _ := unstructured.NestedInt64(object, "status", "observedGeneration")
	return observed
}

// condition is a condition of an object.
type condition struct {
	status          metav1.ConditionStatus
	reason, message string
	observed        int64
}

func (c condition) text() string { return cmp.Or(c.message, c.reason, "without a message") }

// conditionsOf maps types to conditions: status.conditions is a list, or, of KKP, a map by their types.
func conditionsOf(object map[string]any) map[string]condition {
	found := map[string]condition{}
	add := func(name string, content any) {
		fields, _ := content.(map[string]any)
		if name == "" {
			return
		}
		c := condition{reason: text("reason")(fields), message: text("message")(fields)}
		c.status = metav1.ConditionStatus(text("status")(fields))
		c.observed, _, _ = unstructured.NestedInt64(fields, "observedGeneration")
		found[name] = c
	}
	all, _, _ := unstructured.NestedFieldNoCopy(object, "status", "conditions")
	switch all := all.(type) {
	case []any:
		for _, one := range all {
			fields, _ := one.(map[string]any)
			add(text("type")(fields), one)
		}
	case map[string]any:
		for name, one := range all {
			add(name, one)
		}
	}
	return found
}

// text returns a function that reads a text; empty for another type.
func text(fields ...string) func(object map[string]any) string {
	return func(object map[string]any) string {
		value, _, _ := unstructured.NestedString(object, fields...)
		return value
	}
}

// deployedChart returns the version of the chart that a HelmRelease has deployed last.
func deployedChart(object map[string]any) string {
	history, _, _ := unstructured.NestedFieldNoCopy(object, "status", "history")
	list, _ := history.([]any)
	i := slices.IndexFunc(list, func(one any) bool {
		fields, _ := one.(map[string]any)
		return fields["status"] == "deployed"
	})
	if i < 0 {
		return ""
	}
	return text("chartVersion")(list[i].(map[string]any))
}

// outputsOf names the outputs of a Terraform object; nil for one that writes none.
func outputsOf(object map[string]any) *v1alpha1.InstanceOutputs {
	available, _, _ := unstructured.NestedStringSlice(object, "status", "availableOutputs")
	outputs := &v1alpha1.InstanceOutputs{SecretName: text("spec", "writeOutputsToSecret", "name")(object), Available: available}
	if outputs.SecretName == "" && len(available) == 0 {
		return nil
	}
	return outputs
}
