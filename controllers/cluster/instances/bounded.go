// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"encoding/json"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/registry/redact"
)

// Bounds of a state: the bytes of a message and of a name, and the number of outputs.
const (
	maxMessage = 512
	maxName    = 128
	maxOutputs = 20
)

// maxStates bounds the states of all instances of a selection, in bytes of JSON. Without this bound, an account that
// may write the status of one object could fill the status of the selection, which needs room for the record.
const maxStates = 128 << 10

// bounded returns a state whose texts are redacted and cut, because users with fewer rights read the status of the
// selection.
func bounded(state v1alpha1.InstanceState) v1alpha1.InstanceState {
	line := func(text string, limit int) string { return bounds.Truncate(redact.Line(text), limit) }
	state.Message = line(state.Message, maxMessage)
	state.LastAppliedRevision, state.PendingPlan = line(state.LastAppliedRevision, maxName), line(state.PendingPlan, maxName)
	if state.Outputs == nil {
		return state
	}
	outputs := v1alpha1.InstanceOutputs{SecretName: line(state.Outputs.SecretName, maxName)}
	for _, name := range state.Outputs.Available[:min(len(state.Outputs.Available), maxOutputs)] {
		outputs.Available = append(outputs.Available, line(name, maxName))
	}
	state.Outputs = &outputs
	return state
}

// share cuts the states of instances to equal shares of maxStates, if all together are larger.
func share(listed []v1alpha1.InstanceStatus) {
	total := 0
	for _, in := range listed {
		total += sizeOf(in.InstanceState)
	}
	if total <= maxStates {
		return
	}
	for n := range listed {
		listed[n].InstanceState = cut(listed[n].InstanceState, maxStates/len(listed))
	}
}

// cut removes the names of outputs from a state that is larger than size, and then shortens its texts.
func cut(state v1alpha1.InstanceState, size int) v1alpha1.InstanceState {
	if state.Outputs != nil && sizeOf(state) > size {
		state.Outputs = &v1alpha1.InstanceOutputs{SecretName: state.Outputs.SecretName}
	}
	for limit := maxMessage / 2; sizeOf(state) > size && limit > len("..."); limit /= 2 {
		for _, text := range []*string{&state.Message, &state.LastAppliedRevision, &state.PendingPlan} {
			*text = bounds.Truncate(*text, limit)
		}
		if state.Outputs != nil {
			state.Outputs = &v1alpha1.InstanceOutputs{SecretName: bounds.Truncate(state.Outputs.SecretName, limit)}
		}
	}
	return state
}

// sizeOf returns the bytes of a state in JSON, in which a character of HTML has six.
func sizeOf(state v1alpha1.InstanceState) int {
	content, err := json.Marshal(state)
	if err != nil {
		return maxStates
	}
	return len(content)
}
