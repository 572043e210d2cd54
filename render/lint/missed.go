package lint

import (
	"net/url"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// missedRules are those that KKP's API and webhook miss: what they accept fails later, in some
// user cluster.
func missedRules() []documentRule {
	return []documentRule{
		{Rule{"kkp/name-label", Error, "metadata.name is a DNS label"}, nameLabel},
		{Rule{"kkp/versions-required", Error, "there is a version"}, versionsRequired},
		{Rule{"kkp/semver", Error, "versions are semantic versions"}, semanticVersions},
		{Rule{"kkp/version-prefix", Warning, "versions have no leading v"}, versionPrefix},
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

// semantic is the pattern of semver.org, with the leading v that KKP accepts.
var semantic = regexp.MustCompile(`^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
	`(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

func semanticVersions(root field, report report) {
	for _, version := range root.get("spec", "versions").items() {
		at := version.get("version")
		if at.text() != "" && !semantic.MatchString(at.text()) {
			report(at, "%s is not a semantic version such as 1.2.3", quote(at.text()))
		}
	}
}

func versionPrefix(root field, report report) {
	for _, version := range root.get("spec", "versions").items() {
		at := version.get("version")
		if strings.HasPrefix(at.text(), "v") && semantic.MatchString(at.text()) {
			report(at, "%s has a leading v: installations and upgrades compare the exact text", quote(at.text()))
		}
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
	for _, key := range []string{"apps.kubermatic.k8c.io/managed-by", "applicationcatalog.k8c.io/managed-by"} {
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
