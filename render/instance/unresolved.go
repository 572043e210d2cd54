// SPDX-License-Identifier: Apache-2.0

package instance

import "fmt"

// Unresolved is an instance whose application or version the selection does not have, or whose backend the platform does
// not have.
type Unresolved struct {
	// Name of the instance, and Application that it would install.
	Name, Application string
	// Field of the spec that matches nothing, and its Value, which is empty for a default version.
	Field, Value string
	// Reason why.
	Reason string
	// Nearest is the application that resembles one that no source has; empty if none does.
	Nearest string
	// OfVersion is true if the application is selected, and has no such version or channel.
	OfVersion bool
	// OffPlatform is true if the platform leaves the backend out, on purpose.
	OffPlatform bool
	// Dependent is true if an instance that it depends on cannot be resolved.
	Dependent bool
}

func (u Unresolved) String() string { return u.Field + ": " + u.Reason }

func (s Spec) unresolved(child, value, reason string) Unresolved {
	return Unresolved{
		Name: s.Name, Application: s.Application, Field: fmt.Sprintf("spec.instances[%s].%s", s.Name, child), Value: value, Reason: reason,
	}
}

// lacking is unresolved of an application that is selected.
func (s Spec) lacking(child, value, reason string) Unresolved {
	u := s.unresolved(child, value, reason)
	u.OfVersion = true
	return u
}
