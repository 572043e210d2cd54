// SPDX-License-Identifier: Apache-2.0

package diff

import "github.com/Masterminds/semver/v3"

// Step is the change of the highest semantic version.
type Step struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Kind is major, minor, patch or other (a pre-release, or build metadata) for a rise, and lower.
	Kind string `json:"kind"`
}

// Kinds of steps.
const (
	StepMajor = "major"
	StepMinor = "minor"
	StepPatch = "patch"
	StepOther = "other"
	StepLower = "lower"
	// StepDowngrade is the lower version of an instance.
	StepDowngrade = "downgrade"
)

// StepKind returns the kind of a step.
func StepKind(from, to *semver.Version) string {
	switch {
	case to.LessThan(from):
		return StepLower
	case to.Major() != from.Major():
		return StepMajor
	case to.Minor() != from.Minor():
		return StepMinor
	case to.Patch() != from.Patch():
		return StepPatch
	}
	return StepOther
}
