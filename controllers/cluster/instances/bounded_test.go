// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// A status has 256 of them, and an object can be as large as the API server takes.
func TestAStateIsBounded(t *testing.T) {
	long := strings.Repeat("é\n", 10_000)
	state := v1alpha1.InstanceState{
		Ready: metav1.ConditionFalse, Message: "git://user:secret@host " + long, LastAppliedRevision: long, PendingPlan: long,
		Outputs: &v1alpha1.InstanceOutputs{SecretName: long},
	}
	for n := range 1000 {
		state.Outputs.Available = append(state.Outputs.Available, fmt.Sprint(n, long))
	}
	got := bounded(state)
	whole := fmt.Sprint(got.Message, got.LastAppliedRevision, got.PendingPlan, *got.Outputs)
	if len(whole) > 4096 || strings.Contains(whole, "\n") || strings.Contains(whole, "secret") || len(got.Outputs.Available) != maxOutputs {
		t.Errorf("%d bytes:\n%s", len(whole), whole)
	}
	if !strings.HasPrefix(got.Message, "git://***@host é é") || got.Ready != metav1.ConditionFalse {
		t.Errorf("got %+v", got)
	}
	if len(state.Outputs.Available) != 1000 {
		t.Error("the state that was read is changed")
	}
}

// Who may edit a namespace may write the status of its HelmReleases. What they write must leave room for the record.
func TestTheStatesTogetherAreBounded(t *testing.T) {
	long := strings.Repeat("<", 10_000)
	worst := bounded(v1alpha1.InstanceState{
		Ready: metav1.ConditionUnknown, Message: long, LastAppliedRevision: long, PendingPlan: long,
		Outputs: &v1alpha1.InstanceOutputs{SecretName: long, Available: slices.Repeat([]string{long}, maxOutputs)},
	})
	short := v1alpha1.InstanceState{Ready: metav1.ConditionTrue, Message: "installed", LastAppliedRevision: "1.0.0"}
	listed := []v1alpha1.InstanceStatus{{InstanceState: short}, {InstanceState: worst}}
	share(listed)
	if listed[1].Message != worst.Message || len(listed[1].Outputs.Available) != maxOutputs {
		t.Error("a state that has room is cut")
	}
	for len(listed) < 256 {
		listed = append(listed, v1alpha1.InstanceStatus{InstanceState: worst})
	}
	share(listed)
	total := 0
	for _, in := range listed {
		content, err := json.Marshal(in.InstanceState)
		if err != nil {
			t.Fatal(err)
		}
		total += len(content)
	}
	if total > 128<<10 {
		t.Errorf("256 states have %d bytes", total)
	}
	if !reflect.DeepEqual(listed[0].InstanceState, short) || !strings.HasPrefix(listed[1].Message, "<<") || listed[1].Ready != metav1.ConditionUnknown {
		t.Errorf("the states are %+v, %+v", listed[0].InstanceState, listed[1].InstanceState)
	}
}

// Several Kustomizations may apply an instance under several names.
func TestTheWorstStateCounts(t *testing.T) {
	object := func(name string) *guard.Live {
		o := &guard.Live{}
		o.SetName(name)
		return o
	}
	key := func(name string) safeguard.Key { return guard.LiveKey(object(name)) }
	read := readings{
		key("good"):   {state: v1alpha1.InstanceState{Ready: metav1.ConditionTrue, Message: "good"}},
		key("broken"): {state: v1alpha1.InstanceState{Ready: metav1.ConditionFalse, Message: "broken"}},
	}
	good, broken, absent := candidate{object: object("good")}, candidate{object: object("broken")}, candidate{reason: "absent"}
	for _, test := range []struct {
		candidates []candidate
		want       string
	}{
		{nil, "Unknown the record of the publication cannot be read"},
		{[]candidate{good}, "True good"},
		{[]candidate{good, broken, absent}, "False broken"},
		{[]candidate{broken, good}, "False broken"},
		{[]candidate{good, absent}, "Unknown absent"},
		{[]candidate{good, {object: object("gone")}}, "Unknown does not exist any more"},
	} {
		got := worst(test.candidates, read)
		if text := string(got.Ready) + " " + got.Message; text != test.want {
			t.Errorf("of %v: %s, want %s", test.candidates, text, test.want)
		}
	}
}
