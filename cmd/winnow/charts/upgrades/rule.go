// SPDX-License-Identifier: Apache-2.0

package upgrades

// IDs of the rules on what an upgrade may break. They are stable.
const (
	// VolumeClaim finds a PersistentVolumeClaim or volumeClaimTemplates gone, changed or not mounted.
	VolumeClaim = "charts/volume-claim"
	// Definition finds a CustomResourceDefinition, or a version of it, gone.
	Definition = "charts/crd"
	// Immutable finds a field changed that the API server does not let change.
	Immutable = "charts/immutable"
	// Gone finds a Namespace, Secret or ServiceAccount gone, or deleted by a hook.
	Gone = "charts/gone"
	// Value finds a value that is set, and that the newer chart does not read.
	Value = "charts/value"
	// Image finds a new image that no mirror has, or of another registry.
	Image = "charts/image"
)

// Rules returns the IDs of all rules, in the order of their risks: what loses data first.
func Rules() []string { return []string{VolumeClaim, Definition, Immutable, Gone, Value, Image} }
