// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/backends"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/selection/numbered"
	"github.com/winnow-dev/winnow/render/spelling"
)

// Resolved is an instance with the application and the version that it installs.
type Resolved struct {
	Spec
	// Decision on the application, which is selected.
	Decision selection.Decision
	// Version that is installed; empty for definitions without versions, and of a package the name of its bundle.
	Resolved string
	// Package with the versions that stay, and the Bundle of it that is installed; nil for definitions.
	Package *filebased.Package
	Bundle  *filebased.Bundle
}

// Installed returns the version that is installed as people know it, and as versions are compared: of a package the version
// of its bundle, whose name need not have it.
func (r Resolved) Installed() string {
	if r.Bundle == nil {
		return r.Resolved
	}
	return r.Bundle.Version.String()
}

// Resolve resolves the instances over the decisions of a selection. Both results are sorted by name.
func Resolve(specs []Spec, decided selection.Result) (resolved []Resolved, unresolved []Unresolved) {
	selected := each.By(decided.Applications(), func(d selection.Decision) string { return d.Application.Name })
	for _, spec := range specs {
		decision, ok := selected[spec.Application]
		if !ok {
			reason, nearest := whyNot(spec.Application, decided)
			u := spec.unresolved("application", spec.Application, reason)
			u.Nearest = nearest
			unresolved = append(unresolved, u)
			continue
		}
		if name := spec.backendFor(decision.Application); name != "" && spec.platform != nil && !slices.Contains(spec.platform, name) {
			u := spec.unresolved("backend", name, fmt.Sprintf("its backend %s is not in spec.platform.backends", name))
			u.OffPlatform = true
			unresolved = append(unresolved, u)
			continue
		}
		if of := catalog.PackageOf(decision.Kept); of != nil {
			bundle, missing := spec.resolvePackage(of)
			if missing != nil {
				unresolved = append(unresolved, *missing)
				continue
			}
			resolved = append(resolved, Resolved{Spec: spec, Decision: decision, Resolved: bundle.Name, Package: of, Bundle: bundle})
			continue
		}
		version, problem := spec.resolve(decision)
		if problem != "" {
			unresolved = append(unresolved, spec.lacking("version", spec.Version, problem))
			continue
		}
		resolved = append(resolved, Resolved{Spec: spec, Decision: decision, Resolved: version})
	}
	return withoutDependents(resolved, unresolved)
}

// backendFor returns the backend of the instance of an application; empty if the spec has to name one, and does not.
func (s Spec) backendFor(of *catalog.Application) string {
	return cmp.Or(s.Backend, backends.Default(of))
}

// whyNot returns why an application is not selected, and the one that resembles it if no source has it.
func whyNot(application string, decided selection.Result) (reason, nearest string) {
	var known []string
	for _, d := range decided.Decisions {
		if d.Application.Name == application {
			return fmt.Sprintf("the application %s is not selected: %s", application, d.Reason), ""
		}
		known = append(known, d.Application.Name)
	}
	return fmt.Sprintf("no source has an application %s", excerpt.Quoted(application)), spelling.Likeliest(application, known)
}

// withoutDependents moves the instances that depend on unresolved ones to these: their controllers would wait for ever.
func withoutDependents(resolved []Resolved, unresolved []Unresolved) ([]Resolved, []Unresolved) {
	for moved := true; moved; {
		moved = false
		missing := sets.New(each.Map(unresolved, func(u Unresolved) string { return u.Name })...)
		resolved = slices.DeleteFunc(resolved, func(r Resolved) bool {
			i := slices.IndexFunc(r.DependsOn, missing.Has)
			if i < 0 {
				return false
			}
			moved = true
			u := r.unresolved("dependsOn", r.DependsOn[i], fmt.Sprintf("the instance %s cannot be installed", r.DependsOn[i]))
			u.Dependent = true
			unresolved = append(unresolved, u)
			return true
		})
	}
	slices.SortFunc(unresolved, func(a, b Unresolved) int { return strings.Compare(a.Name, b.Name) })
	return resolved, unresolved
}

// resolve returns the version that is installed, or why there is none.
func (s Spec) resolve(d selection.Decision) (version, problem string) {
	choice, candidates := s.chooseDefinition(d)
	has := listed(d.Versions)
	switch {
	case choice == ChoiceNone || slices.Contains(d.Versions, s.Version):
		return s.Version, "" // the backend refuses a version where it knows none
	case len(candidates) > 0 && choice == ChoiceRange:
		return numbered.Highest(candidates).Text, ""
	case len(candidates) > 0:
		return candidates[0], ""
	case choice == ChoiceLatest:
		return "", ""
	case choice == ChoiceDefault:
		return "", fmt.Sprintf("is missing, and the default version %s of %s is not selected; name one of %s",
			excerpt.Of(d.Application.DefaultVersion), s.Application, has)
	case choice == ChoiceRange:
		return "", fmt.Sprintf("no version of the application %s is in the range %s; it has %s", s.Application, excerpt.Quoted(s.Version), has)
	case IsExact(s.Version):
		return "", fmt.Sprintf("the application %s has no version %s, only %s", s.Application, s.Version, has)
	}
	return "", fmt.Sprintf("%s is neither a version of the application %s nor a range; it has %s", excerpt.Quoted(s.Version), s.Application, has)
}
