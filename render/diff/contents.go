package diff

import (
	"bytes"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// stranded returns the versions that the channels of packages strand.
func stranded(changes []safeguard.Change) map[safeguard.Key]map[string][]string {
	found := map[safeguard.Key]map[string][]string{}
	for _, c := range changes {
		if c.Reason != v1alpha1.StrandedReason {
			continue
		}
		if found[c.Key] == nil {
			found[c.Key] = map[string][]string{}
		}
		// A channel may be the default one newly, too.
		found[c.Key][c.Channel] = sorted(slices.Concat(found[c.Key][c.Channel], c.Versions))
	}
	return found
}

// contents are the applications of an artifact that are no objects of Kubernetes.
func (s *Side) contents() map[safeguard.Key]selection.Decision {
	found := map[safeguard.Key]selection.Decision{}
	if s == nil || len(s.Result.Contents) == 0 {
		return found
	}
	for _, d := range s.Result.Selection.Applications() {
		if !d.Application.IsObject() {
			found[render.ContentDefinition(d).Key()] = d
		}
	}
	return found
}

// contents returns the applications that are no objects of Kubernetes and change, and the number of those that stay.
func (d *differ) contents(notices notices, specChanged bool) (changed []Application, unchanged int) {
	older, newer := d.from.contents(), d.to.contents()
	for key, before := range older {
		after, stays := newer[key]
		if !stays {
			changed = append(changed, d.goneContent(key, before))
			continue
		}
		a := d.keptContent(key, before, after, specChanged)
		if notices.set(&a) || a.Change != Unchanged {
			changed = append(changed, a)
		} else {
			unchanged++
		}
	}
	for key, after := range newer {
		if _, stays := older[key]; stays {
			continue
		}
		a := newApplication(render.ContentDefinition(after), Added)
		for _, version := range after.Versions {
			a.Versions = append(a.Versions, Version{Version: version, Number: numberOf(after, version), Change: Added})
		}
		if of := catalog.PackageOf(after.Kept); of != nil {
			a.Package = comparePackages(nil, of, nil)
			a.Package.Repairs = compareRepairs(selection.Decision{}, after)
		}
		notices.set(&a)
		changed = append(changed, a)
	}
	return changed, unchanged
}

// goneContent is an application that leaves the artifact. No cluster has a definition of it that could be deleted.
func (d *differ) goneContent(key safeguard.Key, before selection.Decision) Application {
	a := newApplication(render.ContentDefinition(before), Removed)
	a.Cause, a.Reason = d.cause(key, ""), guard.WhyGone(key, d.to.Result.Selection)
	for _, version := range before.Versions {
		a.Versions = append(a.Versions, Version{Version: version, Number: numberOf(before, version), Change: Removed, Cause: a.Cause})
	}
	return a
}

// keptContent compares an application that stays.
func (d *differ) keptContent(key safeguard.Key, before, after selection.Decision, specChanged bool) Application {
	a := newApplication(render.ContentDefinition(after), Unchanged)
	repairs := compareRepairs(before, after)
	if sameFiles(before.Kept, after.Kept) && len(repairs) == 0 {
		return a
	}
	a.Change = Updated
	// A rule that is not edited, such as the three latest versions, loses one because the catalog has others.
	removedBy := func(version string) Cause {
		if specChanged && slices.Contains(after.Application.Versions, version) {
			return CauseSpec
		}
		return CauseCatalog
	}
	was, is := catalog.PackageOf(before.Kept), catalog.PackageOf(after.Kept)
	if was == nil || is == nil {
		a.Versions = append(a.Versions, d.namedVersions(key, before, after, removedBy)...)
		a.Highest = step(numbersOf(before), numbersOf(after))
		return a
	}
	a.Versions = append(a.Versions, bundleVersions(was, is, removedBy)...)
	for i, v := range a.Versions {
		a.Versions[i].SourceChanged = d.elsewhere[loss{key, v.Version}]
	}
	a.Highest = step(numbersOf(before), numbersOf(after))
	a.Fields, a.FieldsOmitted = documentFields(was.Blob(), is.Blob(), maxFields)
	a.Fields = append([]Field{}, a.Fields...) // [] in JSON, not null
	compared := comparePackages(was, is, d.stranded[key])
	compared.Repairs, compared.Documents = repairs, otherDocuments(was, is)
	if !compared.isEmpty() {
		a.Package = compared
	}
	return a
}

// namedVersions compares the names of versions, and what runs by them: the newer ones in their order, then the removed
// ones in theirs.
func (d *differ) namedVersions(key safeguard.Key, before, after selection.Decision, removedBy func(version string) Cause) []Version {
	var all []Version
	for _, version := range after.Versions {
		switch {
		case !slices.Contains(before.Versions, version):
			all = append(all, Version{Version: version, Number: numberOf(after, version), Change: Added})
		case d.elsewhere[loss{key, version}]:
			v := Version{Version: version, Number: numberOf(after, version), Change: Replaced, SourceChanged: true}
			v.Fields, v.FieldsOmitted = bounded(fieldsOf(runtimeOf(before, version), runtimeOf(after, version)))
			all = append(all, v)
		}
	}
	for _, version := range before.Versions {
		if !slices.Contains(after.Versions, version) {
			all = append(all, Version{Version: version, Number: numberOf(before, version), Change: Removed, Cause: removedBy(version)})
		}
	}
	return all
}

// runtimeOf returns what decides which code a version of a function runs.
func runtimeOf(d selection.Decision, version string) map[string]any {
	if of := catalog.FunctionOf(d.Kept); of != nil {
		for _, v := range of.Versions {
			if v.Name == version {
				return map[string]any{"runtime": v.Runtime.Source()}
			}
		}
	}
	return nil
}

// sameFiles reports whether the files of an artifact are the same.
func sameFiles(before, after catalog.Content) bool {
	return slices.EqualFunc(before.Files(), after.Files(), func(a, b catalog.File) bool {
		return a.Path == b.Path && bytes.Equal(a.Head, b.Head) && bytes.Equal(a.Data, b.Data)
	})
}

// numberOf returns what people see of a version; empty where it is the name.
func numberOf(d selection.Decision, version string) string {
	return d.Application.Metadata.Versions.Of(version).Label
}

func numbersOf(d selection.Decision) []string {
	var numbers []string
	for _, version := range d.Versions {
		numbers = append(numbers, d.Application.Metadata.Versions.Of(version).Numbered())
	}
	return numbers
}
