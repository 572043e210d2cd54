// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"bytes"
	"slices"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/contents"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/fielddiff"
	"github.com/winnow-dev/winnow/render/diff/packages"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// contents returns the applications that are no objects of Kubernetes and change, and the number of those that stay.
func (d *differ) contents(notices notices, specChanged bool) (changed []diff.Application, unchanged int) {
	older, newer := d.from.contents(), d.to.contents()
	for key, before := range older {
		after, stays := newer[key]
		if !stays {
			changed = append(changed, d.goneContent(key, before))
			continue
		}
		a := d.keptContent(key, before, after, specChanged)
		if notices.set(&a) || a.Change != diff.Unchanged {
			changed = append(changed, a)
		} else {
			unchanged++
		}
	}
	for key, after := range newer {
		if _, stays := older[key]; stays {
			continue
		}
		a := newApplication(contents.Definition(after), diff.Added)
		for _, version := range after.Versions {
			a.Versions = append(a.Versions, diff.Version{Version: version, Number: numberOf(after, version), Change: diff.Added})
		}
		if of := catalog.PackageOf(after.Kept); of != nil {
			a.Package = packages.Compare(nil, of, nil)
			a.Package.Repairs = packages.Repairs(selection.Decision{}, after)
		}
		notices.set(&a)
		changed = append(changed, a)
	}
	return changed, unchanged
}

// goneContent is an application that leaves the artifact. No cluster has a definition of it that could be deleted.
func (d *differ) goneContent(key safeguard.Key, before selection.Decision) diff.Application {
	a := newApplication(contents.Definition(before), diff.Removed)
	a.Cause, a.Reason = d.cause(key, ""), guard.WhyGone(key, d.to.Result.Selection)
	for _, version := range before.Versions {
		a.Versions = append(a.Versions, diff.Version{Version: version, Number: numberOf(before, version), Change: diff.Removed, Cause: a.Cause})
	}
	return a
}

// keptContent compares an application that stays.
func (d *differ) keptContent(key safeguard.Key, before, after selection.Decision, specChanged bool) diff.Application {
	a := newApplication(contents.Definition(after), diff.Unchanged)
	repairs := packages.Repairs(before, after)
	if sameFiles(before.Kept, after.Kept) && len(repairs) == 0 {
		return a
	}
	a.Change = diff.Updated
	// A rule that is not edited, such as the three latest versions, loses one because the catalog has others.
	removedBy := func(version string) diff.Cause {
		if specChanged && slices.Contains(after.Application.Versions, version) {
			return diff.CauseSpec
		}
		return diff.CauseCatalog
	}
	was, is := catalog.PackageOf(before.Kept), catalog.PackageOf(after.Kept)
	if was == nil || is == nil {
		a.Versions = append(a.Versions, d.namedVersions(key, before, after, removedBy)...)
		a.Highest = step(numbersOf(before), numbersOf(after))
		return a
	}
	a.Versions = append(a.Versions, packages.BundleVersions(was, is, removedBy)...)
	for i, v := range a.Versions {
		a.Versions[i].SourceChanged = d.elsewhere[loss{key, v.Version}]
	}
	a.Highest = step(numbersOf(before), numbersOf(after))
	a.Fields, a.FieldsOmitted = packages.Fields(was.Blob(), is.Blob(), fielddiff.MaxFields)
	a.Fields = append([]diff.Field{}, a.Fields...) // [] in JSON, not null
	compared := packages.Compare(was, is, d.stranded[key])
	compared.Repairs, compared.Documents = repairs, packages.OtherDocuments(was, is)
	if !compared.IsEmpty() {
		a.Package = compared
	}
	return a
}

// namedVersions compares the names of versions, and what runs by them: the newer ones in their order, then the removed
// ones in theirs.
func (d *differ) namedVersions(key safeguard.Key, before, after selection.Decision, removedBy func(version string) diff.Cause) []diff.Version {
	var all []diff.Version
	for _, version := range after.Versions {
		switch {
		case !slices.Contains(before.Versions, version):
			all = append(all, diff.Version{Version: version, Number: numberOf(after, version), Change: diff.Added})
		case d.elsewhere[loss{key, version}]:
			v := diff.Version{Version: version, Number: numberOf(after, version), Change: diff.Replaced, SourceChanged: true}
			v.Fields, v.FieldsOmitted = fielddiff.Bounded(fielddiff.Of(runtimeOf(before, version), runtimeOf(after, version)), fielddiff.MaxFields)
			all = append(all, v)
		}
	}
	for _, version := range before.Versions {
		if !slices.Contains(after.Versions, version) {
			all = append(all, diff.Version{Version: version, Number: numberOf(before, version), Change: diff.Removed, Cause: removedBy(version)})
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
	return each.Map(d.Versions, func(version string) string { return d.Application.Metadata.Versions.Of(version).Numbered() })
}
