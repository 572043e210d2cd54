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

// addedContent is an application that enters the artifact, and is no object of Kubernetes.
func addedContent(after selection.Decision) diff.Application {
	a := newApplication(contents.Definition(after), diff.Added)
	for _, version := range after.Versions {
		a.Versions = append(a.Versions, diff.Version{Version: version, Number: numberOf(after, version), Change: diff.Added})
	}
	if of := catalog.PackageOf(after.Kept); of != nil {
		a.Package = packages.Compare(nil, of, nil)
		a.Package.Repairs = packages.Repairs(selection.Decision{}, after)
	}
	return a
}

// goneContent is an application that leaves the artifact. No cluster has a definition of it that could be deleted.
func (d *differ) goneContent(before selection.Decision) diff.Application {
	definition := contents.Definition(before)
	a, key := newApplication(definition, diff.Removed), definition.Key()
	a.Cause, a.Reason = d.cause(key, ""), guard.WhyGone(key, d.to.Result.Selection)
	for _, version := range before.Versions {
		a.Versions = append(a.Versions, diff.Version{Version: version, Number: numberOf(before, version), Change: diff.Removed, Cause: a.Cause})
	}
	return a
}

// keptContent compares an application that stays.
func (d *differ) keptContent(before, after selection.Decision) diff.Application {
	definition := contents.Definition(after)
	a, key := newApplication(definition, diff.Unchanged), definition.Key()
	repairs := packages.Repairs(before, after)
	if sameFiles(before.Kept, after.Kept) && len(repairs) == 0 {
		return a
	}
	a.Change = diff.Updated
	// A rule that is not edited, such as the three latest versions, loses one because the catalog has others.
	removedBy := func(version string) diff.Cause {
		if d.to.Subject == Stage {
			return diff.CausePromotion
		}
		if d.edited && slices.Contains(after.Application.Versions, version) {
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
