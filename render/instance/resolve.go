package instance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
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

// Unresolved is an instance whose application or version the selection does not have.
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
}

func (u Unresolved) String() string { return u.Field + ": " + u.Reason }

// maxListedVersions bounds the versions in a message.
const maxListedVersions = 10

// Resolve resolves the instances over the decisions of a selection. Both results are sorted by name.
func Resolve(specs []Spec, decided selection.Result) (resolved []Resolved, unresolved []Unresolved) {
	selected := map[string]selection.Decision{}
	for _, d := range decided.Applications() {
		selected[d.Application.Name] = d
	}
	for _, spec := range specs {
		decision, ok := selected[spec.Application]
		if !ok {
			reason, nearest := whyNot(spec.Application, decided)
			u := spec.unresolved("application", spec.Application, reason)
			u.Nearest = nearest
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

// whyNot returns why an application is not selected, and the one that resembles it if no source has it.
func whyNot(application string, decided selection.Result) (reason, nearest string) {
	var known []string
	for _, d := range decided.Decisions {
		if d.Application.Name == application {
			return fmt.Sprintf("the application %s is not selected: %s", application, d.Reason), ""
		}
		known = append(known, d.Application.Name)
	}
	if near := spelling.Nearest(application, known); len(near) > 0 {
		nearest = near[0]
	}
	return fmt.Sprintf("no source has an application %s", excerpt.Quoted(application)), nearest
}

// withoutDependents moves the instances that depend on unresolved ones to these: their controllers would wait for ever.
func withoutDependents(resolved []Resolved, unresolved []Unresolved) ([]Resolved, []Unresolved) {
	for moved := true; moved; {
		moved = false
		missing := map[string]bool{}
		for _, u := range unresolved {
			missing[u.Name] = true
		}
		resolved = slices.DeleteFunc(resolved, func(r Resolved) bool {
			i := slices.IndexFunc(r.DependsOn, func(name string) bool { return missing[name] })
			if i < 0 {
				return false
			}
			moved = true
			unresolved = append(unresolved, r.unresolved("dependsOn", r.DependsOn[i], fmt.Sprintf("the instance %s cannot be installed", r.DependsOn[i])))
			return true
		})
	}
	slices.SortFunc(unresolved, func(a, b Unresolved) int { return strings.Compare(a.Name, b.Name) })
	return resolved, unresolved
}

// resolve returns the version that is installed, or why there is none.
func (s Spec) resolve(d selection.Decision) (version, problem string) {
	versions := d.Versions
	switch {
	case len(d.Application.Versions) == 0:
		return s.Version, "" // the backend refuses a version where it knows none
	case s.Version == "" && d.Application.DefaultVersion == "":
		return latestVersion(d)
	case s.Version == "":
		return defaultVersion(d)
	case slices.Contains(versions, s.Version):
		return s.Version, ""
	case IsExact(s.Version):
		// 1.2.3 means v1.2.3 as well.
		same := func(other string) bool {
			return IsExact(other) && strings.TrimPrefix(other, "v") == strings.TrimPrefix(s.Version, "v")
		}
		if i := slices.IndexFunc(versions, same); i >= 0 {
			return versions[i], ""
		}
		return "", fmt.Sprintf("the application %s has no version %s, only %s", s.Application, s.Version, listed(versions))
	case s.constraint == nil:
		return "", fmt.Sprintf("%s is neither a version of the application %s nor a range; it has %s", excerpt.Quoted(s.Version), s.Application, listed(versions))
	}
	if best := highest(versions, s.constraint); best != "" {
		return best, ""
	}
	return "", fmt.Sprintf("no version of the application %s is in the range %s; it has %s", s.Application, excerpt.Quoted(s.Version), listed(versions))
}

func defaultVersion(d selection.Decision) (version, problem string) {
	name, version := d.Application.Name, d.Application.DefaultVersion
	if !slices.Contains(d.Versions, version) {
		return "", fmt.Sprintf("is missing, and the default version %s of %s is not selected; name one of %s", excerpt.Of(version), name, listed(d.Versions))
	}
	return version, ""
}

// latestVersion returns the version that KKP installs of a definition without a default version: the highest, pre-releases
// included.
func latestVersion(d selection.Decision) (version, problem string) {
	best := safeguard.Highest(d.Versions)
	if best == nil {
		return "", fmt.Sprintf("is missing: the definition of %s has no default version, and none of its versions is a semantic one; name one of %s",
			d.Application.Name, listed(d.Versions))
	}
	return best.Original(), ""
}

func listed(versions []string) string { return excerpt.Names(versions, maxListedVersions) }

// highest returns the highest version that satisfies the constraint; of equal ones the first. It is empty if
// there is none.
func highest(versions []string, constraint *semver.Constraints) string {
	best := safeguard.Highest(slices.DeleteFunc(slices.Clone(versions), func(version string) bool {
		parsed, err := semver.NewVersion(version)
		return err != nil || !constraint.Check(parsed)
	}))
	if best == nil {
		return ""
	}
	return best.Original()
}

// IsNamed reports whether the spec names exactly this version, so that no catalog decides about it. A range names none,
// even where a catalog has a version that is called like it.
func (s Spec) IsNamed(version string) bool {
	if s.Version == "" || s.constraint != nil {
		return false
	}
	return s.Version == version || IsExact(s.Version) && strings.TrimPrefix(s.Version, "v") == strings.TrimPrefix(version, "v")
}
