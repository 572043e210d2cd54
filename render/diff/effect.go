// SPDX-License-Identifier: Apache-2.0

package diff

// Effect is what a reviewer decides on.
type Effect string

// Effects, those with the decisions first. Of several, a selection has the first one.
const (
	// EffectHeld is a change that the safeguards hold.
	EffectHeld Effect = "held"
	// EffectUnknown is one that could not be compared.
	EffectUnknown   Effect = "unknown"
	EffectLoosened  Effect = "loosened"
	EffectChanged   Effect = "changed"
	EffectUnchanged Effect = "unchanged"
)

// Effects returns all effects in their order.
func Effects() []Effect {
	return []Effect{EffectHeld, EffectUnknown, EffectLoosened, EffectChanged, EffectUnchanged}
}

// Class has the selections on which the change has the same effect: the same changes, the same holds and the same
// approvals. The checksum of a render, which is another one in each namespace, makes no class.
type Class struct {
	Effect Effect `json:"effect"`
	// Selections in the order of the report.
	Selections []Place `json:"selections"`

	members []*Selection `json:"-"`
}

// Place names a selection.
type Place struct {
	// Kind is OCIRepository for a promotion, and empty for a CatalogSelection.
	Kind string `json:"kind,omitempty"`
	// Cluster is the directory of its cluster, and File the file that has it; empty where they are not known.
	Cluster   string `json:"cluster,omitempty"`
	File      string `json:"file,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Place returns the place of the selection.
func (s *Selection) Place() Place {
	place := Place{Cluster: s.Cluster, File: s.File, Namespace: s.Namespace, Name: s.Name}
	if s.Promotion != nil {
		place.Kind = "OCIRepository"
	}
	return place
}
