// SPDX-License-Identifier: Apache-2.0

// Package selectionrule has the identifiers of the rules on a CatalogSelection, and on what stands beside one with instances. It must
// not know who finds what breaks them.
package selectionrule

const (
	// Dependency is broken where a package requires what the catalogs have and the selection leaves out.
	Dependency = "selection/dependency"
	// Monitoring is broken where what KKP monitors user clusters with is left out or lowered.
	Monitoring = "selection/monitoring"
	// MovingSource is broken where the versions of instances follow a source that moves.
	MovingSource = "selection/moving-source"
	// NoWait is broken where the Kustomization does not report that a release has failed.
	NoWait = "selection/no-wait"
	// Note is broken where an instance does not work everywhere.
	Note = "selection/note"
	// Patch is broken where patches take versions from a definition.
	Patch = "selection/patch"
	// ReadersDiffer is broken where kustomize reads another value than kubectl.
	ReadersDiffer = "selection/readers-differ"
	// Reference is broken where a name of a source, or of the artifact, is almost one beside the selection.
	Reference = "selection/reference"
	// Renamed is broken where the Kustomization renames or moves the objects of instances.
	Renamed = "selection/renamed"
	// Unbuilt is broken where a kustomization.yaml that changes the selection is not evaluated.
	Unbuilt = "selection/unbuilt"
	// Unmatched is broken where a name in the selection matches nothing in its catalogs.
	Unmatched = "selection/unmatched"
)
