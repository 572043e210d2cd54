// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Selection has the changes of the artifact of one CatalogSelection.
type Selection struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Everything is true if there is no CatalogSelection: two catalogs are compared for a selection of all
	// applications with the default safeguards.
	Everything bool `json:"everything,omitempty"`
	// Promotion is set if it is no CatalogSelection, but an OCIRepository with another digest of a rendered artifact.
	Promotion *Promotion `json:"promotion,omitempty"`
	// Cluster is the directory of the cluster that the CatalogSelection is applied to; empty when unknown.
	Cluster string `json:"cluster,omitempty"`
	// File of the newer CatalogSelection, or of the older one if it is removed.
	File string `json:"file,omitempty"`
	// Change of the artifact: added, removed, updated or unchanged. The other fields may have findings even
	// if it is unchanged.
	Change Change `json:"change"`
	// SpecChanged is true if a part of the spec was edited that the artifact depends on.
	SpecChanged bool `json:"specChanged"`
	// From and To are the states; nil if the selection does not exist.
	From *State `json:"from,omitempty"`
	To   *State `json:"to,omitempty"`
	// Counts summarizes Applications.
	Counts Counts `json:"counts"`
	// Applications with changes or notices, sorted by name.
	Applications []Application `json:"applications"`
	// Lists are the first changed lists of two catalogs that are compared without a selection: paths are their names.
	Lists []Field `json:"lists,omitempty"`
	// Instances with changes, and those that cannot be installed, sorted by name.
	Instances []Instance `json:"instances,omitempty"`
	// Charts are the upgrades of charts that were rendered, by application, instance and version.
	Charts []Chart `json:"charts,omitempty"`
	// Served are the changes of the catalog of OLM that serves the packages: two where another one replaces it.
	Served []ServedCatalog `json:"served,omitempty"`
	// OldFile has the older CatalogSelection, or a new one.
	OldFile string `json:"-"`
	// PushURL is the address that the older selection pushed to, or a new one pushes to; empty for none.
	PushURL string `json:"-"`
	// Others are withdrawals besides Applications: all that a removed selection had, and what the newer state deprecates.
	Others []Withdrawal `json:"-"`
	// Loosened are the protections that the edit of the spec removes.
	Loosened []Loosened `json:"loosened"`
	// Held are the changes that the safeguards hold; nil for none.
	Held *Held `json:"held,omitempty"`
	// Moves are applications that leave for another selection.
	Moves []Move `json:"moves"`
	// Live is true if the cluster was read. Otherwise bypass and adoption are unknown.
	Live bool `json:"live"`
	// NothingLives is true if no cluster has objects of either artifact that a comparison with it would be about: both
	// have packages of operators, or functions, alone.
	NothingLives bool `json:"-"`
	// Bypassed are applications whose live definitions Flux leaves alone; only with Live.
	Bypassed []string `json:"bypassed"`
	// Replaced are the settings of live definitions that the publication replaces, by name; only with Live.
	Replaced []Settings `json:"replaced"`
	// Keep are members of the spec, as YAML, that keep the replaced settings; empty for none. It has live
	// values, which may be secret.
	Keep string `json:"keep,omitempty"`
	// Notes are further sentences for readers.
	Notes []string `json:"notes"`
	// Unknown are sentences about what could not be compared. Then nothing else is compared.
	Unknown []string `json:"unknown"`
	// Error is why one of the states could not be rendered. Then nothing is compared.
	Error string `json:"error,omitempty"`
	// Invalid is that error if the newer state is invalid, which is a finding; nil otherwise.
	Invalid error `json:"-"`
}

// State is one of the two compared artifacts.
type State struct {
	// Revision of the artifact.
	Revision string `json:"revision"`
	// Available and Selected count applications.
	Available int `json:"available"`
	Selected  int `json:"selected"`
	// Sources in the order of the spec.
	Sources []Source `json:"sources"`
}

// Source is a source of a state.
type Source struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Checksum of the source's revision, of an OCIRepository the digest of the manifest; empty when
	// it is unknown.
	Checksum string `json:"checksum,omitempty"`
}

// NewSelection returns the report on a selection without any comparison.
func NewSelection(namespace, name string) *Selection {
	return &Selection{
		Namespace: namespace, Name: name, Change: Updated,
		Applications: []Application{}, Loosened: []Loosened{}, Moves: []Move{}, Bypassed: []string{}, Replaced: []Settings{},
		Notes: []string{}, Unknown: []string{},
	}
}

// IsHeld reports whether the change loses what it does not name.
func (s *Selection) IsHeld() bool { return s.Held != nil && !s.Held.Approved }

// IsApprovable reports whether lines can be added that name what is held.
func (s *Selection) IsApprovable() bool { return s.IsHeld() && len(s.Held.Approve) > 0 }

// Refuse records that the newer state is invalid, so that nothing is compared.
func (s *Selection) Refuse(err error) { s.Error, s.Invalid = "after: "+err.Error(), err }

// Survives records that Flux keeps the live definition of a removed application.
func (s *Selection) Survives(application string) { s.settle(application, new(bool)) }

// Moved records that another selection publishes a removed application.
func (s *Selection) Moved(application string) { s.settle(application, nil) }

// settle sets what becomes of a definition that stays, and so do its installations.
func (s *Selection) settle(application string, deleted *bool) {
	for i := range s.Applications {
		a := &s.Applications[i]
		if a.Name != application || a.Deleted == nil {
			continue
		}
		if *a.Deleted {
			s.Counts.Deleted--
		}
		a.Deleted = deleted
		for j := range a.Versions {
			a.Versions[j].Installations = nil
		}
	}
}

// Take sets the settings that the publication of the definitions replaces, and the members of the spec that
// keep them.
func (s *Selection) Take(next []safeguard.Definition, replaced map[safeguard.Key]guard.Replaced) error {
	var keep kept
	for _, d := range next {
		if r := replaced[d.Key()]; !r.Nothing() {
			s.Replaced = append(s.Replaced, keep.settings(d, r))
		}
	}
	if len(keep.Values)+len(keep.Patches) == 0 {
		return nil
	}
	text, err := yaml.Marshal(keep)
	if err != nil {
		return fmt.Errorf("writing what keeps the live settings: %w", err)
	}
	s.Keep = string(text)
	return nil
}

// label names the selection in a message.
func (s *Selection) label() string {
	if s.Everything {
		return "the catalog"
	}
	return s.Name
}
