// SPDX-License-Identifier: Apache-2.0

package source

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestAChangeOfTheArtifactIsSeen(t *testing.T) {
	base := &meta.Artifact{Revision: "r", Digest: "d", URL: "u"}
	for _, test := range []struct {
		name     string
		old, new *meta.Artifact
		want     bool
	}{
		{"none and none", nil, nil, false},
		{"a first one", nil, base, true},
		{"a deleted one", base, nil, true},
		{"the same", base, base.DeepCopy(), false},
		{"another time", base, &meta.Artifact{Revision: "r", Digest: "d", URL: "u", Metadata: map[string]string{"a": "b"}}, false},
		{"another revision", base, &meta.Artifact{Revision: "R", Digest: "d", URL: "u"}, true},
		{"another digest", base, &meta.Artifact{Revision: "r", Digest: "D", URL: "u"}, true},
		{"another URL", base, &meta.Artifact{Revision: "r", Digest: "d", URL: "U"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			older, newer := &sourcev1.Bucket{}, &sourcev1.Bucket{}
			older.Status.Artifact, newer.Status.Artifact = test.old, test.new
			if got := artifactChanged(older, newer); got != test.want {
				t.Errorf("artifactChanged() = %v", got)
			}
		})
	}
	if Changed().Update(event.UpdateEvent{ObjectOld: &corev1.Pod{}, ObjectNew: &corev1.Pod{}}) {
		t.Error("an update of a Pod passes")
	}
}

func TestAChangeOfReadinessIsSeen(t *testing.T) {
	source := func(status metav1.ConditionStatus, reason, message string) *sourcev1.OCIRepository {
		o := &sourcev1.OCIRepository{}
		o.Status.Artifact = &meta.Artifact{Revision: "r", Digest: "d", URL: "u"}
		if status != "" {
			o.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: status, Reason: reason, Message: message}}
		}
		return o
	}
	ready, failing := source("True", "Succeeded", "stored r"), source("False", "AuthenticationFailed", "401")
	progressing := source("Unknown", "Progressing", "fetching")
	for _, test := range []struct {
		name         string
		older, newer *sourcev1.OCIRepository
		want         bool
	}{
		{"nothing", ready, ready, false},
		{"only the message, while it is ready", ready, source("True", "Succeeded", "stored r again"), false},
		{"it has the condition for the first time", source("", "", ""), ready, false},
		{"it begins to fail", ready, failing, true},
		{"it fails in another way", failing, source("False", "AuthenticationFailed", "403"), true},
		{"it fails as before", failing, failing, false},
		{"it recovers", failing, ready, true},
		{"Flux is reconciling", ready, progressing, false},
		{"Flux has reconciled", progressing, ready, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := readinessChanged(test.older, test.newer); got != test.want {
				t.Errorf("readinessChanged() = %v", got)
			}
		})
	}
}
