package lint

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/reserved"
)

// missedRules are those that KKP's API and webhook miss: what they accept fails later, in some
// user cluster.
func missedRules() []documentRule {
	return []documentRule{
		{Rule{"kkp/name-label", Error, "metadata.name is a DNS label"}, nameLabel},
		{Rule{"kkp/versions-required", Error, "there is a version"}, versionsRequired},
		{Rule{"kkp/version", Error, "versions have a number"}, versionPattern},
		{Rule{"kkp/semver", Warning, "versions can be compared"}, semanticVersions},
		{Rule{"kkp/version-prefix", Warning, "all versions of a definition have a leading v, or none"}, versionPrefix},
		{Rule{"kkp/default-version", Error, "spec.defaultVersion is one of spec.versions"}, defaultVersion},
		{Rule{"kkp/default-version-unset", Info, "of several versions one is the default"}, defaultVersionUnset},
		{Rule{"kkp/default-namespace", Error, "spec.defaultNamespace.name is a DNS label"}, defaultNamespace},
		{Rule{"kkp/managed-by", Warning, "no label protects the definition from being deleted"}, managedBy},
		{Rule{"kkp/link", Warning, "documentationURL and sourceURL are http or https URLs"}, links},
	}
}

func nameLabel(root field, report report) {
	at := root.get("metadata", "name")
	if at.text() == "" || len(validation.IsDNS1123Subdomain(at.text())) > 0 {
		return // which the format of the catalog says
	}
	for _, problem := range validation.IsDNS1123Label(at.text()) {
		report(at, "metadata.name %s cannot be installed: %s", quote(at.text()), problem)
	}
}

func versionsRequired(root field, report report) {
	at := root.get("spec", "versions")
	if !at.isSet() || len(at.node.Content) == 0 {
		report(at, "spec.versions is empty: there is nothing to install")
	}
}

// numbered is what is left of the pattern in KKP's API, which has neither beginning nor end.
var numbered = regexp.MustCompile(`[0-9]`)

func versionPattern(root field, report report) {
	for _, version := range root.get("spec", "versions").items() {
		if at := version.get("version"); at.text() != "" && !numbered.MatchString(at.text()) {
			report(at, "%s has no number, as the versions of KKP have", quote(at.text()))
		}
	}
}

// semanticVersions knows what is compared by its numbers here, in KKP and in Helm: "2.23" is 2.23.0.
func semanticVersions(root field, report report) {
	for _, version := range root.get("spec", "versions").items() {
		at := version.get("version")
		if _, err := semver.NewVersion(at.text()); numbered.MatchString(at.text()) && err != nil {
			report(at, "%s cannot be compared with other versions, as 1.2.3 can: no range or latest selects it", quote(at.text()))
		}
	}
}

// versionPrefix reports the rarer of both; of those that are equally frequent, a leading v.
func versionPrefix(root field, report report) {
	var with, without []field
	for _, version := range root.get("spec", "versions").items() {
		switch at := version.get("version"); {
		case strings.HasPrefix(at.text(), "v"):
			with = append(with, at)
		case at.text() != "":
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
		report(at, "%s has %s, unlike other versions: installations and upgrades compare the exact text", quote(at.text()), what)
	}
}

func defaultVersion(root field, report report) {
	at := root.get("spec", "defaultVersion")
	if !at.isSet() || at.text() == "" && at.node.ShortTag() == "!!str" {
		return
	}
	for _, version := range root.get("spec", "versions").items() {
		if v := version.get("version"); v.text() != "" && v.text() == at.text() {
			return
		}
	}
	report(at, "spec.defaultVersion %s is not among spec.versions", quote(at.node.Value))
}

func defaultVersionUnset(root field, report report) {
	versions, at := root.get("spec", "versions"), root.get("spec", "defaultVersion")
	if len(versions.items()) > 1 && (!at.isSet() || at.node.Value == "") {
		report(versions, "spec.defaultVersion is not set: KKP installs the latest of %d versions", len(versions.items()))
	}
}

func defaultNamespace(root field, report report) {
	namespace := root.get("spec", "defaultNamespace")
	at := namespace.get("name")
	if !namespace.isSet() {
		return
	}
	for _, problem := range validation.IsDNS1123Label(at.text()) {
		report(at, "spec.defaultNamespace.name %s is not valid: %s", quote(at.text()), problem)
	}
}

func managedBy(root field, report report) {
	labels := root.get("metadata", "labels")
	for _, key := range []string{reserved.PlatformLabel, reserved.ManagerLabel} {
		if at := labels.get(key); at.isSet() {
			report(at, "the label %s is for KKP itself: with it, the definition cannot be deleted", key)
		}
	}
}

func links(root field, report report) {
	for _, name := range []string{"documentationURL", "sourceURL"} {
		at := root.get("spec", name)
		if at.text() == "" {
			continue
		}
		parsed, err := url.Parse(at.text())
		if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
			report(at, "%s must be an http or https URL, not %s", at.path, quote(at.text()))
		}
	}
}
