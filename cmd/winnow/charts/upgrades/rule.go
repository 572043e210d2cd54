// SPDX-License-Identifier: Apache-2.0

package upgrades

// Rule is what an upgrade may break.
type Rule struct {
	// ID is charts/<name>. It is stable.
	ID string
	// Summary states in one line what the rule finds.
	Summary string
}

// IDs of rules.
const (
	VolumeClaim = "charts/volume-claim"
	Definition  = "charts/crd"
	Immutable   = "charts/immutable"
	Gone        = "charts/gone"
	Value       = "charts/value"
	Image       = "charts/image"
)

// Rules returns all rules, in the order of their risks: what loses data first.
func Rules() []Rule {
	return []Rule{
		{VolumeClaim, "a PersistentVolumeClaim or volumeClaimTemplates gone, changed or not mounted"},
		{Definition, "a CustomResourceDefinition, or a version of it, gone"},
		{Immutable, "a field changed that the API server does not let change"},
		{Gone, "a Namespace, Secret or ServiceAccount gone, or deleted by a hook"},
		{Value, "a value that is set, and that the newer chart does not read"},
		{Image, "a new image that no mirror has, or of another registry"},
	}
}
