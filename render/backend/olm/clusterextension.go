// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// catalogNameLabel is set by OLM on each ClusterCatalog, with its name.
const catalogNameLabel = "olm.operatorframework.io/metadata.name"

// FillExtension installs a package using a ClusterExtension. OLM resolves the range of versions over the catalogs of the
// cluster.
func FillExtension(d *draft.Draft) {
	if !ofPackage(d, map[string]string{
		"values":              "OLM v1 installs a package as it is (instanceOverrides of the selection count as well)",
		"createOperatorGroup": "OLM v1 has no OperatorGroups",
	}) {
		return
	}
	catalog := map[string]any{"packageName": d.Package.Name}
	draft.Set(catalog, "version", versionRange(d))
	for i, channel := range d.Channels {
		if problems := validation.IsDNS1123Subdomain(channel); len(problems) > 0 {
			d.Refuse(backend.Indexed("channels", i), "%s cannot be selected in OLM v1: %s", excerpt.Quoted(channel), problems[0])
		}
	}
	if len(d.Channels) > 0 {
		catalog["channels"] = each.Map(d.Channels, func(channel string) any { return channel })
	}
	if d.Catalog.Namespace != "" {
		d.Refuse("catalog.namespace", "a ClusterCatalog has no namespace: leave it out")
	}
	switch {
	case d.Catalog.Name != "":
		d.Label("catalog.name", d.Catalog.Name)
		catalog["selector"] = map[string]any{"matchLabels": map[string]any{catalogNameLabel: d.Catalog.Name}}
	case d.FromServed(v1alpha1.PushClusterCatalog):
		catalog["selector"] = map[string]any{"matchLabels": map[string]any{
			v1alpha1.NameLabel: d.Selection, v1alpha1.NamespaceLabel: d.Namespace,
		}}
	}
	spec := map[string]any{
		"namespace": d.TargetNamespace,
		"source":    map[string]any{"sourceType": "Catalog", "catalog": catalog},
	}
	if d.ServiceAccountName != "" {
		spec["serviceAccount"] = map[string]any{"name": d.ServiceAccountName}
	}
	addPackageNamespace(d)
	d.Add(backend.Main, kinds.ClusterExtension, "", d.Name, map[string]any{"spec": spec})
}

// versionRange returns the range of a ClusterExtension. A range of the spec stays as it is, because OLM finds the
// upgrades that lead to it. The name of a bundle becomes the version of the bundle.
func versionRange(d *draft.Draft) string {
	if d.Requested == "" {
		return ""
	}
	given := d.Requested
	if given == d.Bundle.Name {
		given = d.Bundle.Version.Semver()
		distinguishable(d)
	}
	translated, err := Range(given)
	if err != nil {
		d.Refuse("version", "%v", err)
	}
	return translated
}

// distinguishable refuses the name of a bundle if OLM may install another bundle: OLM takes ranges of versions only,
// and ignores build metadata in them.
func distinguishable(d *draft.Draft) {
	constraint, err := semver.NewConstraint(d.Bundle.Version.Semver())
	for _, other := range d.Package.BundlesIn(d.Channels) {
		if other.Name == d.Bundle.Name {
			return
		}
		version, invalid := semver.NewVersion(other.Version.Semver())
		if err == nil && invalid == nil && constraint.Check(version) {
			d.Refuse("version", "OLM v1 cannot distinguish %s from the bundle %s, because it ignores build metadata and releases of versions: name a channel without that one",
				excerpt.Quoted(d.Bundle.Name), excerpt.Quoted(other.Name))
			return
		}
	}
}

// ExtensionNotes returns notes on fields that some releases of OLM v1 refuse. For an instance without a bundle it
// checks the spec alone.
func ExtensionNotes(in backend.Instance) []backend.Note {
	var notes []backend.Note
	note := func(field, format string, args ...any) {
		notes = append(notes, backend.Note{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if in.ServiceAccountName == "" {
		note("serviceAccountName", "is not set: OLM before 1.11 refuses a ClusterExtension without it")
	}
	number := ""
	switch {
	case isWhole(in.Requested):
		number = strings.TrimPrefix(in.Requested, "v")
	case in.Bundle != nil && in.Requested == in.Bundle.Name:
		number = in.Bundle.Version.Semver()
	}
	if number != "" {
		note("version", "names one version, which OLM refuses where an upgrade needs several steps: name a range that ends with it, such as <=%s", number)
	}
	if in.Bundle == nil {
		return notes
	}
	if len(in.Bundle.Dependencies) > 0 {
		note("application", "resolves to the bundle %s, which has dependencies: OLM v1 installs no such bundle, so use the backend %s", excerpt.Quoted(in.Bundle.Name), backend.Subscription)
	}
	if modes := in.Bundle.InstallModes; modes != nil && !slices.Contains(modes, allNamespaces) {
		note("application", "resolves to the bundle %s, which does not support the install mode %s, only %s: OLM v1 installs for all namespaces, so use the backend %s",
			excerpt.Quoted(in.Bundle.Name), allNamespaces, excerpt.Names(modes, maxModes), backend.Subscription)
	}
	return notes
}

func isWhole(version string) bool {
	_, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v"))
	return err == nil
}

// Range returns a range of semantic versions, which has been parsed, in the dialect of OLM v1: without hyphen ranges,
// and with x for *.
func Range(text string) (string, error) {
	translated := hyphenRange.ReplaceAllString(text, ">=$1 <=$2")
	translated = strings.TrimSpace(strings.ReplaceAll(translated, "*", "x"))
	if len(translated) > maxOLMRange {
		of := ""
		if translated != text {
			of = fmt.Sprintf(" as %s", excerpt.Quoted(translated))
		}
		return "", fmt.Errorf("%s has %d bytes%s, and OLM takes %d: shorten it", excerpt.Quoted(text), len(translated), of, maxOLMRange)
	}
	if !olmRange.MatchString(translated) {
		return "", errors.New(excerpt.Quoted(text) + " is no range that OLM takes: use comparisons such as >=1.2.0 <2.0.0, ~1.2 or ^1.2, joined by spaces, commas or ||")
	}
	return translated, nil
}

// maxOLMRange bounds a range of versions in OLM v1, in bytes.
const maxOLMRange = 64

// hyphenRange matches 1.2 - 1.4, which stands for >=1.2 <=1.4.
var hyphenRange = regexp.MustCompile(`([^\s,|<>=!~^]+)\s+-\s+([^\s,|<>=!~^]+)`)

// olmVersion matches the ranges that the CustomResourceDefinition of ClusterExtensions accepts, in OLM 1.2 and later.
// By a mistake in that pattern, not every version may contain *, but every version may contain x.
const olmVersion = `(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)\s*(v?(0|[1-9]\d*|x|X)(\.(0|[1-9]\d*|x|X))?(\.(0|[1-9]\d*|x|X))?` +

	`(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?)\s*`

var olmRange = regexp.MustCompile(`^\s*` + olmVersion + `(?:(?:\s+|,\s*|\s*\|\|\s*)` + olmVersion + `)*$`)
