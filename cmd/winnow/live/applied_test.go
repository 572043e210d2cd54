// SPDX-License-Identifier: Apache-2.0

package live

import (
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A condition about an older spec does not say that the newer one is healthy.
func TestReadyOfAReceiptIsThatOfTheSpec(t *testing.T) {
	for _, test := range []struct {
		name               string
		generation, seen   int64
		status, want       metav1.ConditionStatus
		revision, digested string
	}{
		{"of the spec", 2, 2, metav1.ConditionTrue, metav1.ConditionTrue, "latest@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"of an older spec", 2, 1, metav1.ConditionTrue, metav1.ConditionUnknown, "main", ""},
		{"of an unknown spec", 2, 0, metav1.ConditionFalse, metav1.ConditionFalse, "", ""},
	} {
		k := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "k", Generation: test.generation}}
		k.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: test.status, ObservedGeneration: test.seen}}
		k.Status.LastAppliedRevision = test.revision
		if got := appliedBy(k); got.Ready != test.want || got.Digest != test.digested {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
	k := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "k"}}
	k.Spec.SourceRef.Name, k.Spec.SourceRef.Namespace = "s", "other"
	if got := appliedBy(k); got.Ready != metav1.ConditionUnknown || got.Source != "other/s" {
		t.Errorf("%+v", got)
	}
}
