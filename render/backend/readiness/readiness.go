// SPDX-License-Identifier: Apache-2.0

// Package readiness reads the state of an instance from its live main object: for each kind, one condition. It must not
// know how the object is found, nor who may read it. It returns texts of the object in full, neither cut nor redacted.
package readiness

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/value"
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
	revision func(object value.Value) string
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
	content := value.Of(object.Object)
	state := r.state(object, content)
	state.LastAppliedRevision = r.revision(content)
	if kind == kinds.Terraform.GroupKind() {
		state.Outputs, state.PendingPlan = outputsOf(object.Object), content.Get("status", "plan", "pending").Text()
	}
	return state
}

func (r report) state(object *unstructured.Unstructured, content value.Value) v1alpha1.InstanceState {
	unknown := func(message string) v1alpha1.InstanceState {
		return v1alpha1.InstanceState{Ready: metav1.ConditionUnknown, Message: message}
	}
	if object.GetDeletionTimestamp() != nil {
		return unknown("is being deleted")
	}
	found := conditionsOf(content.Get("status", "conditions"))
	for _, failure := range r.failures {
		if c := found[failure]; c.status == metav1.ConditionTrue {
			return v1alpha1.InstanceState{Ready: metav1.ConditionFalse, Message: c.text()}
		}
	}
	c, exists := found[r.condition]
	switch {
	case r.condition == "" && r.revision(content) != "":
		c = condition{status: metav1.ConditionTrue, message: r.revision(content)}
	case !exists:
		return unknown("not yet observed")
	case isOlder(cmp.Or(c.observed, content.Get("status", "observedGeneration").Number()), object.GetGeneration()):
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

// condition is a condition of an object.
type condition struct {
	status          metav1.ConditionStatus
	reason, message string
	observed        int64
}

func (c condition) text() string { return cmp.Or(c.message, c.reason, "without a message") }

// conditionsOf maps types to conditions: status.conditions is a list, or, of KKP, a map by their types.
func conditionsOf(all value.Value) map[string]condition {
	found := map[string]condition{}
	add := func(name string, of value.Value) {
		if name != "" {
			found[name] = condition{
				status: metav1.ConditionStatus(of.Get("status").Text()), observed: of.Get("observedGeneration").Number(),
				reason: of.Get("reason").Text(), message: of.Get("message").Text(),
			}
		}
	}
	for _, one := range all.Items() {
		add(one.Get("type").Text(), one)
	}
	for name, one := range all.Mapping() {
		add(name, value.Of(one))
	}
	return found
}

// text returns a function that reads a text.
func text(fields ...string) func(object value.Value) string {
	return func(object value.Value) string { return object.Get(fields...).Text() }
}

// deployedChart returns the version of the chart that a HelmRelease has deployed last.
func deployedChart(object value.Value) string {
	deployed := func(release value.Value) bool { return release.Get("status").Text() == "deployed" }
	last, _ := each.First(object.Get("status", "history").Items(), deployed)
	return last.Get("chartVersion").Text()
}

// outputsOf names the outputs of a Terraform object; nil for one that writes none.
func outputsOf(object map[string]any) *v1alpha1.InstanceOutputs {
	available, _, _ := unstructured.NestedStringSlice(object, "status", "availableOutputs")
	outputs := &v1alpha1.InstanceOutputs{SecretName: value.Of(object).Get("spec", "writeOutputsToSecret", "name").Text(), Available: available}
	if outputs.SecretName == "" && len(available) == 0 {
		return nil
	}
	return outputs
}
