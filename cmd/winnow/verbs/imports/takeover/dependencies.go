// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"cmp"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// refuseCycles refuses HelmReleases that depend on themselves, also through others: a selection has no such instances.
func (t *taker) refuseCycles() {
	circular := slices.DeleteFunc(t.candidates(), func(c *candidate) bool { return !t.reaches(c, c.live.GetName(), map[string]bool{}) })
	for _, c := range circular {
		t.drop(c, "it depends on itself, or on releases that depend on it")
	}
}

// reaches reports whether a candidate depends on a name, also through others.
func (t *taker) reaches(c *candidate, name string, seen map[string]bool) bool {
	for _, on := range c.dependencies() {
		if on == name {
			return true
		}
		if next := t.taken[on]; next != nil && !seen[on] {
			seen[on] = true
			if t.reaches(next, name, seen) {
				return true
			}
		}
	}
	return false
}

// isHelm reports whether an instance that is taken, or that the selection has, is a HelmRelease of its name.
func (t *taker) isHelm(name string) bool {
	if on := t.taken[name]; on != nil {
		return on.instance.Backend == backend.Helm
	}
	existing, ok := t.selection.Spec.Instances[name]
	_, isKKP := t.published.versions[cmp.Or(existing.Application, name)]
	return ok && isKKP && (existing.Backend == backend.Helm || existing.Backend == "")
}

// dependencies returns the names of the HelmReleases of the same namespace that a release depends on, sorted.
func (c *candidate) dependencies() []string {
	names := map[string]bool{}
	for _, reference := range c.live.spec("dependsOn").Items() {
		if namespace := reference.Get("namespace").Text(); namespace == "" || namespace == c.live.GetNamespace() {
			names[reference.Get("name").Text()] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// warnOfDependencies warns of what the instance does not wait for.
func (c *candidate) warnOfDependencies() {
	for _, reference := range c.live.spec("dependsOn").Items() {
		name, namespace := reference.Get("name").Text(), cmp.Or(reference.Get("namespace").Text(), c.live.GetNamespace())
		switch _, isExpression := reference.Mapping()["readyExpr"]; {
		case namespace != c.live.GetNamespace() || !slices.Contains(c.instance.DependsOn, name):
			c.warn("it depends on %s/%s, which is not imported: the instance does not wait for it", excerpt.Of(namespace), excerpt.Of(name))
		case isExpression:
			c.warn("its dependsOn has a readyExpr, which an instance has not: it waits until %s is ready", excerpt.Of(name))
		}
	}
}
