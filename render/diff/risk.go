// SPDX-License-Identifier: Apache-2.0

package diff

// Risk is what the upgrade of a chart may break.
type Risk struct {
	// Rule is the ID of the rule that finds it, such as charts/volume-claim.
	Rule string `json:"rule"`
	// Object is the kind, namespace and name; empty for a value.
	Object string `json:"object,omitempty"`
	// Field with a dotted path, empty for the object as a whole. From and To are its values as in Field. Those in the data of
	// a Secret are left out.
	Field string `json:"field,omitempty"`
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	// Text says what happens, and what to do.
	Text string `json:"text"`
	// Ignored is the reason for which the selection ignores the rule; empty where it does not.
	Ignored string `json:"ignored,omitempty"`
}
