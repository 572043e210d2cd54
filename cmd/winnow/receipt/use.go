// SPDX-License-Identifier: Apache-2.0

package receipt

import (
	"fmt"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Uses are the installations by objects of one kind.
type Uses struct {
	// Kind is HelmRelease, Terraform, ApplicationInstallation, ClusterExtension or Subscription. One that the cluster does not serve
	// has no installations.
	Kind string `json:"kind"`
	// Unknown is why there may be others than Applications: one of the reasons below. Empty if there are none.
	Unknown string `json:"unknown,omitempty"`
	// Applications are sorted by name and version.
	Applications []Use `json:"applications,omitempty"`
}

// Reasons of Uses.Unknown.
const (
	// Forbidden is a kind that the account must not list.
	Forbidden = "Forbidden"
	// InUserClusters is the reason on a seed of KKP, whose user clusters have the installations.
	InUserClusters = "InUserClusters"
	// TooMany is beyond the bounds of a receipt.
	TooMany = "TooMany"
)

// Use is the number of installations of an application.
type Use struct {
	// Application is the name of the definition, or of the package.
	Application string `json:"application"`
	// Version of the application, or the name of the bundle; empty for a definition without versions, and where it is not known.
	Version       string `json:"version,omitempty"`
	Installations int    `json:"installations"`
	// Objects are the names, such as namespace/name; only with --names.
	Objects []string `json:"objects,omitempty"`
}

// bounded returns the first uses, as far as they fit. A kind that lacks some is unknown.
func bounded(uses []Uses, fits func(any) bool) (all []Uses) {
	entries := 0
	for _, kind := range uses {
		within := kind
		within.Applications = nil
		for _, use := range kind.Applications {
			use.Objects = use.Objects[:min(len(use.Objects), maxNames)]
			if entries += 1 + len(use.Objects); entries > maxUses || !fits(use) {
				within.Unknown = TooMany
				break
			}
			within.Applications = append(within.Applications, use)
		}
		all = append(all, within)
	}
	return all
}

// checkUses checks uses that were read. A kind that comes twice could hide that it is unknown.
func checkUses(uses []Uses) error {
	entries, known := 0, map[string]bool{}
	for i := range uses {
		of := &uses[i]
		of.Kind, of.Unknown = excerpt.To(of.Kind, maxText), excerpt.To(of.Unknown, maxText)
		for _, use := range of.Applications {
			entries += 1 + len(use.Objects)
			if use.Installations < 1 || use.Installations > maxInstallations {
				return fmt.Errorf("a use has installations: %d", use.Installations)
			}
		}
		switch {
		case entries > maxUses || len(uses) > maxUses:
			return errTooLarge
		case known[of.Kind]:
			return fmt.Errorf("it has the uses by %s twice", excerpt.Quoted(of.Kind))
		}
		known[of.Kind] = true
	}
	return nil
}
