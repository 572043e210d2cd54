// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/field"
	"github.com/winnow-dev/winnow/render/backend/kkp"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// chart is the chart of a version of KKP.
type chart struct {
	url, name, version string
	plainHTTP          bool
}

func (c chart) isOCI() bool { return strings.HasPrefix(c.url, "oci://") }

// maxTag is the limit of registries.
const maxTag = 128

var (
	chartNamePattern  = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,127}$`)
	repositoryPattern = regexp.MustCompile(`^[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)
	tagPattern        = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]*$`)
)

// helmChart returns the chart of the version.
func helmChart(d *draft.Draft) chart {
	entry, ok := kkp.VersionEntry(d)
	if !ok {
		return chart{}
	}
	template := entry.Get("template")
	source, helm := template.Get("source"), template.Get("source", "helm")
	if credentials := template.Get("templateCredentials"); credentials.IsSet() {
		credentials.Fault("are for charts that KKP packages itself, which Flux cannot: install another version, or leave the application to KKP")
	}
	if git := source.Get("git"); git.IsSet() {
		git.Fault("is a chart in a Git repository, which this backend does not install: push the chart to a registry, and use source.helm")
		return chart{}
	}
	if !helm.IsSet() {
		helm.Fault("is missing: the backend %s installs charts of Helm repositories and registries", d.Backend)
		return chart{}
	}
	checkTransport(d, helm)
	c := chart{
		url: strings.TrimRight(helm.Get("url").Required(), "/"), name: helm.Get("chartName").Required(),
		version: helm.Get("chartVersion").Required(), plainHTTP: helm.Get("plainHTTP").IsTrue(),
	}
	if len(d.Problems) == 0 {
		checkChart(helm, c)
	}
	return c
}

// checkTransport refuses what Flux has no equivalent for.
func checkTransport(d *draft.Draft, helm field.Field) {
	if helm.Get("insecure").IsTrue() {
		helm.Get("insecure").Fault("switches off the verification of certificates, which Flux cannot: " +
			"give Flux the certificate authority by mirrors[].flux.certSecretRef, and leave insecure out")
	}
	if credentials := helm.Get("credentials"); credentials.IsSet() && d.Access.SecretRef == "" && isGeneric(d.Access.Provider) {
		credentials.Fault("name keys of Secrets in the namespace of KKP, and Flux reads Secrets of a fixed form in the selection's namespace: " +
			"name one by mirrors[].flux.secretRef")
	}
}

func isGeneric(provider string) bool { return provider == "" || provider == "generic" }

func checkChart(helm field.Field, c chart) {
	address, err := url.Parse(c.url)
	if err != nil {
		address = &url.URL{} // the error may quote a password
	}
	switch at := helm.Get("url"); {
	case address.Host == "" || !slices.Contains([]string{"http", "https", "oci"}, address.Scheme):
		at.Fault("must be a URL that begins with https://, http:// or oci://")
	case address.User != nil || address.RawQuery != "" || address.Fragment != "" || address.ForceQuery:
		at.Fault("must have neither a user, nor a query, nor a fragment, which could hold a password")
	}
	if !c.isPinned() {
		helm.Get("chartVersion").Fault("%s must be one version, not a range: the chart must not change under the same definition", excerpt.Quoted(c.version))
	}
	if c.isOCI() {
		checkRepository(helm.Get("url"), strings.TrimPrefix(address.Path, "/"))
		checkRepository(helm.Get("chartName"), c.name)
		if tag := c.tag(); len(tag) > maxTag || !tagPattern.MatchString(tag) {
			helm.Get("chartVersion").Fault("%s is no tag of a registry", excerpt.Quoted(c.version))
		}
	} else if !chartNamePattern.MatchString(c.name) {
		helm.Get("chartName").Fault("%s is no name of a chart", excerpt.Quoted(c.name))
	}
}

// checkRepository refuses a path that no repository in a registry has.
func checkRepository(f field.Field, path string) {
	if path != "" && !repositoryPattern.MatchString(path) {
		f.Fault("%s is no name of a repository in a registry: it has lower case letters and digits, with . _ - and / between them", excerpt.Quoted(path))
	}
}

// isPinned reports whether the version is one: in a repository a part of one stands for the newest that begins so,
// in a registry it is a tag.
func (c chart) isPinned() bool {
	parse := semver.NewVersion
	if !c.isOCI() {
		parse = semver.StrictNewVersion
	}
	_, err := parse(strings.TrimPrefix(c.version, "v"))
	return err == nil
}

// tag returns the tag that Helm gives to the version in a registry, where + is not allowed.
func (c chart) tag() string { return strings.ReplaceAll(c.version, "+", "_") }
