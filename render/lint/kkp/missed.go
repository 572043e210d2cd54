// SPDX-License-Identifier: Apache-2.0

package kkp

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/reserved"
	"github.com/winnow-dev/winnow/render/selection/numbered"
)

// missedRules are those that KKP's API and webhook miss: what they accept fails later, in some
// user cluster.
func missedRules() []rule {
	return []rule{
		rules.NewChecked("kkp/name-label", rules.Error, "metadata.name is a DNS label", nameLabel),
		rules.NewChecked("kkp/versions-required", rules.Error, "there is a version", versionsRequired),
		rules.NewChecked("kkp/version", rules.Error, "versions have a number", versionPattern),
		rules.NewChecked("kkp/chart-version", rules.Error, "chartVersion is a version, or a range, that Helm reads", eachHelm(chartVersion)),
		rules.NewChecked("kkp/chart-version-range", rules.Warning, "chartVersion is one version", eachHelm(chartVersionRange)),
		rules.NewChecked("kkp/semver", rules.Warning, "versions can be compared", semanticVersions),
		rules.NewChecked("kkp/version-prefix", rules.Warning, "all versions of a definition have a leading v, or none", versionPrefix),
		rules.NewChecked("kkp/version-equal", rules.Warning, "no two versions have the same number", versionEqual),
		rules.NewChecked("kkp/default-version", rules.Error, "spec.defaultVersion is one of spec.versions", defaultVersion),
		rules.NewChecked("kkp/default-version-unset", rules.Info, "of several versions one is the default", defaultVersionUnset),
		rules.NewChecked("kkp/default-namespace", rules.Error, "spec.defaultNamespace.name is a DNS label", defaultNamespace),
		rules.NewChecked("kkp/managed-by", rules.Warning, "no label protects the definition from being deleted", managedBy),
		rules.NewChecked("kkp/link", rules.Warning, "documentationURL and sourceURL are http or https URLs", links),
	}
}

func nameLabel(root field.Field, report field.Report) {
	at := root.Get("metadata", "name")
	if at.Text() == "" || len(validation.IsDNS1123Subdomain(at.Text())) > 0 {
		return // which the format of the catalog says
	}
	for _, problem := range validation.IsDNS1123Label(at.Text()) {
		report(at, "metadata.name %s cannot be installed: %s", excerpt.Quoted(at.Text()), problem)
	}
}

// versions returns the field version of each entry of spec.versions.
func versions(root field.Field) []field.Field {
	return each.Map(definition.Versions(root.Get("spec")), func(v definition.Version[field.Field]) field.Field { return v.Entry.Get("version") })
}

func versionsRequired(root field.Field, report field.Report) {
	at := root.Get("spec", "versions")
	if !at.IsSet() || len(at.Node.Content) == 0 {
		report(at, "spec.versions is empty: there is nothing to install")
	}
}

// hasNumber is what is left of the pattern in KKP's API, which has neither beginning nor end.
var hasNumber = regexp.MustCompile(`[0-9]`)

func versionPattern(root field.Field, report field.Report) {
	for _, at := range versions(root) {
		if at.Text() != "" && !hasNumber.MatchString(at.Text()) {
			report(at, "%s has no number, as the versions of KKP have", excerpt.Quoted(at.Text()))
		}
	}
}

// semanticVersions knows what is compared by its numbers here, in KKP and in Helm: "2.23" is 2.23.0.
func semanticVersions(root field.Field, report field.Report) {
	for _, at := range versions(root) {
		if _, err := semver.NewVersion(at.Text()); hasNumber.MatchString(at.Text()) && err != nil {
			report(at, "%s cannot be compared with other versions, as 1.2.3 can: no range or latest selects it", excerpt.Quoted(at.Text()))
		}
	}
}

func chartVersion(helm field.Field, report field.Report) {
	at := helm.Get("chartVersion")
	if _, err := semver.NewConstraint(at.Text()); at.Text() != "" && err != nil {
		report(at, "%s is neither a version nor a range, and Helm refuses it", excerpt.Quoted(at.Text()))
	}
}

// chartVersionRange knows that a part of a version is a tag in a registry, and a range in a repository.
func chartVersionRange(helm field.Field, report field.Report) {
	at, parse, where := helm.Get("chartVersion"), semver.StrictNewVersion, "repository"
	if scheme(helm) == "oci" {
		parse, where = semver.NewVersion, "registry"
	}
	if _, err := semver.NewConstraint(at.Text()); at.Text() == "" || err != nil {
		return
	}
	if _, err := parse(strings.TrimPrefix(at.Text(), "v")); err != nil {
		report(at, "%s is a range: KKP installs the highest version in the %s that it allows, which changes under the same version: name one", excerpt.Quoted(at.Text()), where)
	}
}

// versionPrefix reports the rarer of both; of those that are equally frequent, a leading v.
func versionPrefix(root field.Field, report field.Report) {
	var with, without []field.Field
	for _, at := range versions(root) {
		switch {
		case strings.HasPrefix(at.Text(), "v"):
			with = append(with, at)
		case at.Text() != "":
			without = append(without, at)
		}
	}
	odd, what := with, "a leading v"
	if len(without) < len(with) {
		odd, what = without, "no leading v"
	}
	if len(with) == 0 || len(without) == 0 {
		return
	}
	for _, at := range odd {
		report(at, "%s has %s, unlike other versions: installations and upgrades compare the exact text", excerpt.Quoted(at.Text()), what)
	}
}

// versionEqual knows versions that differ in build metadata or in zeros alone, as 1.0.0+1 and 1.0; versionPrefix has a leading v.
func versionEqual(root field.Field, report field.Report) {
	var before []*semver.Version
	for _, at := range versions(root) {
		parsed, err := semver.NewVersion(at.Text())
		if err != nil {
			continue
		}
		for _, other := range before {
			if other.Equal(parsed) && strings.TrimPrefix(other.Original(), "v") != strings.TrimPrefix(at.Text(), "v") {
				report(at, "%s and %s are the same number: ranges and KKP's default take the first in the list", excerpt.Quoted(other.Original()), excerpt.Quoted(at.Text()))
				break
			}
		}
		before = append(before, parsed)
	}
}

func defaultVersion(root field.Field, report field.Report) {
	at := root.Get("spec", "defaultVersion")
	if !at.IsSet() || at.Text() == "" && at.Node.ShortTag() == "!!str" {
		return
	}
	if at.Text() != "" && slices.Contains(definition.Names(definition.Versions(root.Get("spec"))), at.Text()) {
		return
	}
	report(at, "spec.defaultVersion %s is not among spec.versions", excerpt.Quoted(at.Node.Value))
}

func defaultVersionUnset(root field.Field, report field.Report) {
	versions, at := root.Get("spec", "versions"), root.Get("spec", "defaultVersion")
	all := versions.Items()
	if len(all) < 2 || at.IsSet() && at.Node.Value != "" {
		return
	}
	taken := "the latest"
	if first := all[0].Get("version").Text(); numbered.Preferred([]string{first}).Parsed == nil {
		taken = fmt.Sprintf("the first, %s, which is not semantic,", excerpt.Quoted(first))
	}
	report(versions, "spec.defaultVersion is not set: KKP installs %s of %d versions", taken, len(all))
}

func defaultNamespace(root field.Field, report field.Report) {
	namespace := root.Get("spec", "defaultNamespace")
	at := namespace.Get("name")
	if !namespace.IsSet() {
		return
	}
	for _, problem := range validation.IsDNS1123Label(at.Text()) {
		report(at, "spec.defaultNamespace.name %s is not valid: %s", excerpt.Quoted(at.Text()), problem)
	}
}

func managedBy(root field.Field, report field.Report) {
	labels := root.Get("metadata", "labels")
	for _, key := range []string{reserved.PlatformLabel, reserved.ManagerLabel} {
		if at := labels.Get(key); at.IsSet() {
			report(at, "the label %s is for KKP itself: with it, the definition cannot be deleted", key)
		}
	}
	at := root.Get("metadata", "annotations", reserved.ManagerAnnotation)
	if reserved.ManagerMark(nil, map[string]string{reserved.ManagerAnnotation: at.Text()}) != "" {
		report(at, "the annotation %s is for KKP itself, whose catalog manager writes to the definition", reserved.ManagerAnnotation)
	}
}

func links(root field.Field, report field.Report) {
	for _, name := range []string{"documentationURL", "sourceURL"} {
		at := root.Get("spec", name)
		if at.Text() == "" {
			continue
		}
		parsed, err := url.Parse(at.Text())
		if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
			report(at, "%s must be an http or https URL, not %s", at.Path, excerpt.Quoted(at.Text()))
		}
	}
}
