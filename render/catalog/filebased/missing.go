// SPDX-License-Identifier: Apache-2.0

package filebased

import "fmt"

// Missing is a dependency that nothing satisfies.
type Missing struct {
	Dependency

	// Bundles have it, each once, the highest version first.
	Bundles []*Bundle
}

// Further returns a sentence on the bundles besides the first one; empty for none.
func (m Missing) Further() string {
	if others := len(m.Bundles) - 1; others > 0 {
		return fmt.Sprintf("; further versions with it: %d", others)
	}
	return ""
}

// Missing returns the dependencies of the bundles for which a condition holds, each once.
func (p *Package) Missing(isMissing func(Dependency) bool) (all []Missing) {
	indexes := map[Dependency]int{}
	for _, bundle := range p.Bundles {
		for _, on := range bundle.Dependencies {
			if !isMissing(on) {
				continue
			}
			i, known := indexes[on]
			if !known {
				i, all = len(all), append(all, Missing{Dependency: on})
				indexes[on] = i
			}
			if m := &all[i]; len(m.Bundles) == 0 || m.Bundles[len(m.Bundles)-1] != bundle {
				m.Bundles = append(m.Bundles, bundle)
			}
		}
	}
	return all
}
